import os

for _ in range(5_000):
    os.mkdir("d")
    os.chdir("d")
print("deep")
