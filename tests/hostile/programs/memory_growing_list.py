kept = []
while True:
    kept.append("x" * 100_000 + str(len(kept)))
