print(sum(range(10 ** 13)))
