from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2) as pool:
    print(list(pool.map(abs, [1])))
