import torch
y = torch.tensor(5.)
print(y)
tensor(5., grad_fn=<AddBackward0>)
