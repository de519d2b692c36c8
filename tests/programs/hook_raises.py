import torch

def stop(grad):
    raise ValueError(f"gradient {grad.tolist()} is not welcome")

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.register_hook(stop)
y.sum().backward()
