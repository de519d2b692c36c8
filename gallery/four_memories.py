import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
batch = torch.randn(32, 64)
targets = torch.randint(0, 10, (32,))


def kilobytes(tensors):
    return sum(tensor.nbytes for tensor in tensors if tensor is not None) / 1024


def report(when):
    state = [value for slots in optimizer.state.values() for value in slots.values()]
    print(f"{when:9} parameters {kilobytes(net.parameters()):.1f} KiB, "
          f"gradients {kilobytes(p.grad for p in net.parameters()):.1f}, state {kilobytes(state):.1f}")


report("at first")
loss = nn.functional.cross_entropy(net(batch), targets)
report("forward")
loss.backward()
report("backward")
optimizer.step()
report("step")
