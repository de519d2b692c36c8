import os
import stat

for descriptor in range(4096):
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        continue
    if not stat.S_ISFIFO(mode) and not (descriptor == 0 and stat.S_ISCHR(mode)):
        raise AssertionError(f"descriptor {descriptor} is {stat.filemode(mode)}")
