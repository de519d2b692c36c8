block = b"x" * 1_000_000
number = 0
while True:
    number += 1
    with open(f"big{number}", "wb") as file:
        for _ in range(100):
            file.write(block)
