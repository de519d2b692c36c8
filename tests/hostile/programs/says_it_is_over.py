import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"\n")
    except OSError:
        pass
while True:
    pass
