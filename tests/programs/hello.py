print("hello, world")
print(sum(range(10)))
