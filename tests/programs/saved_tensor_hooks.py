import torch

packed = []

def pack(t):
    packed.append(tuple(t.shape))
    return t.clone()

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
    y = (x ** 2).exp().sum()
y.backward()
print(packed, x.grad)
