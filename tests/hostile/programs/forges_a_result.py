import os

for descriptor in range(3, 64):
    try:
        os.write(descriptor, b'\n["end",0.0]\n["fail","exception","Forged","forged",0,[],"",0,0,""]\n')
    except OSError:
        pass
os._exit(1)
