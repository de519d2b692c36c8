import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 64 * 1024 * 1024))
    kept[-1].write(b"x" * 64 * 1024 * 1024)
