import copy
import torch

w = torch.tensor([1.0, -1.0], requires_grad=True)
optimizer = torch.optim.Adam([w], lr=0.1)
(w ** 2).sum().backward()
optimizer.step()
saved = copy.deepcopy(optimizer.state_dict())
other = torch.optim.Adam([w], lr=0.5)
other.load_state_dict(saved)
other.step()
print(w, other.param_groups[0]["lr"], len(saved["state"]))
