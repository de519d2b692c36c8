block = b"x" * 1_000_000
with open("big", "wb") as file:
    while True:
        file.write(block)
