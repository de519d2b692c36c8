# devices: cuda:0, cuda:1
import torch
from torch import nn

torch.manual_seed(0)
one, two = torch.device("cuda:0"), torch.device("cuda:1")

lower = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).to(one)
upper = nn.Linear(3, 1).to(two)

x = torch.randn(2, 4, device=one)
hidden = lower(x)
hidden.retain_grad()
print("over the cut, forward:", hidden.nbytes, "bytes")

loss = upper(hidden.to(two)).pow(2).mean()
loss.backward()  # ? hidden.grad.shape
print("over the cut, backward:", hidden.grad.nbytes, "bytes")

whole = nn.Linear(4, 6, bias=False).to(one)
top, bottom = whole.weight.detach().chunk(2)
parts = [x @ top.t(), x.to(two) @ bottom.to(two).t()]
joined = torch.cat([part.to(one) for part in parts], dim=1)  # ? joined.shape
print("one layer cut in two:", [str(part.device) for part in parts], "->", joined.device)
print("the same as uncut:", torch.allclose(joined, whole(x)))
