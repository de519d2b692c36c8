class Stays:
    def __del__(self):
        while True:
            pass

x = Stays()
del x
