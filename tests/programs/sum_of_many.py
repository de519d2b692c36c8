import torch

x = torch.tensor(1.0, requires_grad=True)
terms = [x * i for i in range(50)]
total = sum(terms)
total.backward()
print(total, x.grad)
