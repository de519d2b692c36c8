import copy
import io
import pickle
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 2)

    def forward(self, x):
        return self.line(x).relu()

model = Small()
model(torch.ones(1, 2)).sum().backward()
twin = copy.deepcopy(model)
again = pickle.loads(pickle.dumps(model))
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
buffer.seek(0)
fresh = Small()
print(fresh.load_state_dict(torch.load(buffer)))
print(torch.equal(twin.line.weight, again.line.weight), twin.line.weight.grad is not None, fresh.line.weight.grad)
