import torch
from torch import nn

torch.manual_seed(0)
rows, width = 32, 128  # ~ rows 8..64 by 8, width 16..256 by 16
net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
batch = torch.randn(rows, 64)
targets = torch.randint(0, 10, (rows,))


def kilobytes(tensors):
    return sum(tensor.nbytes for tensor in tensors if tensor is not None) / 1024


def report(when):
    state = [value for slots in optimizer.state.values() for value in slots.values()]
    gradients = [parameter.grad for parameter in net.parameters()]
    held = torch.tensor([kilobytes(net.parameters()), kilobytes(gradients), kilobytes(state)])  # ? held @ 3
    # ? held @ 4
    print(f"{when:9} parameters {held[0]:.1f} KiB, gradients {held[1]:.1f}, state {held[2]:.1f}")


report("at first")
loss = nn.functional.cross_entropy(net(batch), targets)
report("forward")
loss.backward()
report("backward")
optimizer.step()
report("step")
