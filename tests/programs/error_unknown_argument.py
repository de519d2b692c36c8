from torch import nn

class Net(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

net = Net(units=3)
