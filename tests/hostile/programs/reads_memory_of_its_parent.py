import ctypes
import os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0) == 0, ctypes.get_errno()
