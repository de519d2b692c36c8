import threading
threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(100)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
