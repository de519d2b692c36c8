import torch

def train():
    w = torch.ones(1, requires_grad=True)
    try:
        (w * 2).backward()
        raise TypeError("first")
    finally:
        print("cleaned", w.grad)

train()
