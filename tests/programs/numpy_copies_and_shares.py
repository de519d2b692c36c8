import numpy as np
import torch

g = np.array([[1, 2, 3], [4, 5, 6]])
h = torch.tensor(g)
i = torch.from_numpy(g)
j = h.numpy()
g[0, 0] = 100
print(h[0, 0], i[0, 0], j[0, 0])
w = torch.ones(2, requires_grad=True)
print(w.detach().numpy())
