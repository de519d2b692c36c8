import torch

layers = [torch.full((2, 2), 0.5, requires_grad=True) for _ in range(3)]
named = {"bias": torch.zeros(2, requires_grad=True), "scale": torch.ones(2)}
h = torch.ones(1, 2)
for layer in layers:
    h = torch.tanh(h @ layer + named["bias"]) * named["scale"]
out = h.sum()
out.backward()
pair = (h, out)
print(layers[0].grad, named["bias"].grad)
