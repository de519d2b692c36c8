import zlib
bomb = zlib.compress(b'0' * 50_000_000)
held = []
while True:
    held.append(zlib.decompress(bomb))
