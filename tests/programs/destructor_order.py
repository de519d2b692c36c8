import torch

class Owner:
    def __init__(self, name):
        self.name = name
        self.tensor = torch.ones(1, requires_grad=True)

    def __del__(self):
        print("bye", self.name)

a = Owner("a")
b = Owner("b")
loss = (a.tensor * b.tensor).sum()
del a
loss.backward()
b = None
print("end")
