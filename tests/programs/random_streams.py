import random
import numpy as np
import torch

print(random.random(), np.random.rand(2), torch.rand(2))
torch.manual_seed(7)
a = torch.randn(2)
state = torch.get_rng_state()
b = torch.randn(2)
torch.set_rng_state(state)
c = torch.randn(2)
g = torch.Generator().manual_seed(3)
d = torch.randn(2, generator=g)
print(a, torch.equal(b, c), d, torch.initial_seed())
