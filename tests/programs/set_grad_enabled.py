import torch

x = torch.tensor([1.0], requires_grad=True)
kept = []
for training in (True, False):
    with torch.set_grad_enabled(training):
        kept.append(x * 2)
torch.set_grad_enabled(False)
off = x * 3
torch.set_grad_enabled(True)
print([k.requires_grad for k in kept], off.requires_grad)
