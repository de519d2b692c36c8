import threading


def spin():
    while True:
        pass


threading.Thread(target=spin).start()
print("main is done")
