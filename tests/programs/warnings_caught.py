import warnings
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    y.grad
    warnings.warn("mine")
print([w.category.__name__ for w in caught], caught[-1].lineno)
warnings.filterwarnings("ignore")
y.grad
warnings.warn("silent")
