import threading
import time
import torch

done = []

def late():
    time.sleep(0.5)
    done.append(torch.ones(1))
    print("late", len(done))

threading.Thread(target=late).start()
print("main ends")
