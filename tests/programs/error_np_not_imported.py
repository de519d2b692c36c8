import torch

a = torch.ones(3)
b = a.numpy()
c = np.add(b, 1)
