import ctypes
ctypes.CFUNCTYPE(None)(1)()
