import torch

o = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
r = o.unsqueeze(1)
same = o.squeeze()
back = r.squeeze(1)
untouched = r.squeeze(0)
print(r.shape, same.shape, back.shape, untouched.shape)
(back * same).sum().backward()
print(o.grad)
