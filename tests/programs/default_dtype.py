import torch

torch.set_default_dtype(torch.float64)
x = torch.tensor([1.0, 2.0], requires_grad=True)
model = torch.nn.Linear(2, 1)
loss = model(x).sum()
loss.backward()
print(x.dtype, x.grad.dtype, loss.dtype)
torch.set_default_dtype(torch.float32)
print(torch.ones(1).dtype)
