import numpy as np
import torch

array = np.array([1.0, 2.0, 3.0])  # ~ -5..5
shared = torch.from_numpy(array)
copied = torch.tensor(array)

np.multiply(array, 10, out=array)
row = shared.view(1, 3)  # ? row.shape
row[0, 0] = -1  # ? shared

moved = array + 1
print("shared", shared)
print("copied", copied)
print("moved ", moved)
