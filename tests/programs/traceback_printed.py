import traceback
import torch

def broken(x):
    return x @ torch.ones(5)

try:
    broken(torch.ones(3, requires_grad=True))
except RuntimeError:
    text = traceback.format_exc()
    print(text.splitlines()[0])
    print([line.strip() for line in text.splitlines() if "program" in line])
    print(text.splitlines()[-1])
