import threading
import torch

w = torch.ones(2, requires_grad=True)

def work():
    (w * 3).sum().backward()
    print("worker", w.grad.tolist())

thread = threading.Thread(target=work)
thread.start()
thread.join()
print(w.grad)
