import torch


class Neuron:
    def __init__(self, start):
        self.weight = torch.tensor([start, -start], requires_grad=True)
        self.bias = torch.tensor(start / 2, requires_grad=True)

    def forward(self, x):
        out = (self.weight * x).sum() + self.bias
        return out.tanh()

    def reset(self):
        self.weight.grad = None
        self.bias.grad.zero_()


x = torch.tensor([0.2, 0.4])
left, right = Neuron(1.0), Neuron(3.0)
out = left.forward(x) * right.forward(x)
out.backward()
left.reset()
out = left.forward(x) - right.forward(-x)
out.backward()
weight = left.weight.detach() + right.weight.grad
with torch.no_grad():
    for neuron in (left, right):
        neuron.weight -= 0.1 * neuron.weight.grad
out = right.forward(x)
out.backward()
