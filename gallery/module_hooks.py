import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3, bias=False), nn.Tanh(), nn.Linear(3, 1))
nn.init.constant_(model[0].weight, 0.25)


def double(module, inputs, output):
    return output * 2  # ~ 1..5


def watch(module, grad_input, grad_output):
    print(f"into Tanh: {grad_output[0].norm():.4f}, out of it: {grad_input[0].norm():.4f}")


def ready(parameter):
    print(f"ready to be sent: {tuple(parameter.shape)}, gradient {parameter.grad.norm():.4f}")


model[0].register_forward_hook(double)
model[1].register_full_backward_hook(watch)
model[2].weight.register_post_accumulate_grad_hook(ready)

hidden = model[0](torch.ones(2))  # ? hidden
loss = model[1:](hidden).pow(2).mean()
loss.backward()
