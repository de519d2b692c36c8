x = 'a'
while True:
    x += x
