import torch

def load(name):
    try:
        return {"w": torch.ones(1)}[name]
    except KeyError as error:
        raise LookupError(f"no tensor {name!r}") from error

w = load("w")
b = load("b")
