import os
import torch
from torch import nn

model = nn.Linear(2, 1)
torch.save(model.state_dict(), "model.pt")
again = nn.Linear(2, 1)
again.load_state_dict(torch.load("model.pt"))
with open("notes.txt", "w", encoding="utf-8") as file:
    file.write("hello\n")
print(open("notes.txt", encoding="utf-8").read().strip(), torch.equal(model.weight, again.weight), os.path.exists("model.pt"))
os.remove("model.pt")
