import torch
from torch import nn

torch.manual_seed(0)
if torch.cuda.device_count() > 1:
    one, two = torch.device("cuda:0"), torch.device("cuda:1")
else:
    one = two = torch.device("cpu")

lower = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).to(one)
upper = nn.Linear(3, 1).to(two)

x = torch.randn(2, 4, device=one)
hidden = lower(x)
hidden.retain_grad()
print("over the cut, forward:", hidden.nbytes, "bytes")

loss = upper(hidden.to(two)).pow(2).mean()
loss.backward()  # ? hidden.grad.shape
print("over the cut, backward:", hidden.grad.nbytes, "bytes")

whole = nn.Linear(4, 6, bias=False)
top, bottom = whole.weight.detach().chunk(2)
parts = [x.cpu() @ half.t() for half in (top, bottom)]
joined = torch.cat(parts, dim=1)  # ? joined.shape
print("one layer cut in two:", [tuple(part.shape) for part in parts], "->", tuple(joined.shape))
print("the same as uncut:", torch.allclose(joined, whole(x.cpu())))
