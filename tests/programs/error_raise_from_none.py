import torch

class ShapeError(ValueError):
    pass

def check(x):
    try:
        x.view(5)
    except RuntimeError as error:
        raise ShapeError(f"need 5 numbers, got {x.numel()}") from None

check(torch.ones(4))
