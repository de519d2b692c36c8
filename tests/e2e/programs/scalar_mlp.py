import random
import torch
random.seed(0)

def make(n_in, n_out):
    return [{"w": [torch.tensor(random.uniform(-1, 1), requires_grad=True) for _ in range(n_in)], "b": torch.tensor(0.0, requires_grad=True)} for _ in range(n_out)]

def neuron(w, b, x):
    total = b
    for wi, xi in zip(w, x):
        total = total + wi * xi
    return torch.tanh(total)

def layer(neurons, x):
    return [neuron(n["w"], n["b"], x) for n in neurons]

net = [make(3, 16), make(16, 15), make(15, 1)]
xs = [torch.tensor(v) for v in (2.0, 3.0, -1.0)]
out = xs
for part in net:
    out = layer(part, out)
loss = (out[0] - 1.0) ** 2
loss.backward()
