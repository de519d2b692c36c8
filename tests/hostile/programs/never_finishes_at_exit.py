import atexit

def again():
    while True:
        pass

atexit.register(again)
