import numpy as np
import torch

a = torch.ones(5)
b = a.numpy()
a.add_(1)
print(b)
c = np.ones(3)
d = torch.from_numpy(c)
np.add(c, 1, out=c)
print(d)
c = c + 1
print(d, c)
