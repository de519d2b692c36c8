import os

while True:
    for descriptor in range(64):
        try:
            os.write(descriptor, b'["out","stdout","forged",0,false]\n' * 100)
        except OSError:
            pass
