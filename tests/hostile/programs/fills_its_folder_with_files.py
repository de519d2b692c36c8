number = 0
while True:
    number += 1
    open(f"file{number}", "w").write("x")
