import torch

def loss(w):
    return (w ** 2).sum()

w = torch.tensor([1.0, 2.0], requires_grad=True)
loss(w).backward()
torch.autograd.backward(loss(w))
torch.autograd.backward([loss(w), loss(w) * 2])
grads = torch.autograd.grad(loss(w), [w])
print(w.grad, grads)
