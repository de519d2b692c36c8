import torch

t = a = torch.ones(2, requires_grad=True)
_hidden = 3
long_text = "x" * 300
empty_list, nothing, flag = [], None, True
size = torch.Size([1, 2])
dtype = torch.float16
b, (c, d) = a * 2, (a + 1, [a - 1])

class Thing:
    limit = 3

def helper():
    return 1

maker = Thing
number = 10 ** 20
ratio = float("nan")
