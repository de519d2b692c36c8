import threading
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
results = {}

def work(k):
    y = (x * k).sum()
    results[k] = torch.autograd.grad(y, x)[0].tolist()

threads = [threading.Thread(target=work, args=(k,)) for k in (2, 3)]
for t in threads:
    t.start()
    t.join()
print(results)
