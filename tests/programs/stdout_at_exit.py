import atexit
import torch

atexit.register(lambda: print("goodbye"))
x = torch.ones(1, requires_grad=True)
(x * 2).backward()
print("hello")
