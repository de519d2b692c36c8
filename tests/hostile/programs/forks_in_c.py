import ctypes
libc = ctypes.CDLL(None, use_errno=True)
assert libc.fork() >= 0, ctypes.get_errno()
