import ctypes
assert ctypes.CDLL(None).system(b'id > id.txt') == 0, 'no shell'
