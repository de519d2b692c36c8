import torch

w = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
optimizer.register_step_post_hook(lambda o, a, k: print("stepped", o.param_groups[0]["lr"]))
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
cycle = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.9)

def closure():
    optimizer.zero_grad()
    loss = (w ** 2).sum()
    loss.backward()
    return loss

for _ in range(3):
    loss = optimizer.step(closure)
    plateau.step(loss)
    cycle.step()
print(w, cycle.get_last_lr())
