import sys
while True:
    print('x' * 1000, file=sys.stderr)
