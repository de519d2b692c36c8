import os
import stat
os.mknod('mem', 0o600 | stat.S_IFCHR, os.makedev(1, 1))
