import gc
import sys
import weakref
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
alive = weakref.ref(y)
node = y.grad_fn
print(y.grad_fn is node, sys.getrefcount(x), sys.getrefcount(y))
del y
print(alive() is None)
z = (x * 3).sum()
z.backward()
held = weakref.ref(x.grad)
x.grad = None
gc.collect()
print(held() is None)
