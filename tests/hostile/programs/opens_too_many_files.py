kept = []
while True:
    kept.append(open("same", "w"))
