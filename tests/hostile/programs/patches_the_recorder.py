import sys
for name in [name for name in sys.modules if name.startswith('engine')]:
    sys.modules[name] = None
import torch
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
