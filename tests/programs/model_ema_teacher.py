import copy
import torch
from torch import nn

student = nn.Linear(3, 2)
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.2)
for _ in range(2):
    x = torch.randn(5, 3)
    loss = nn.functional.kl_div(student(x).log_softmax(1), teacher(x + 0.1).softmax(1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 0.1)
    print(loss)
