import torch
from torch.autograd import Variable

x = Variable(torch.randn(1, 10))
y = Variable(torch.randn(1, 10))
W = Variable(torch.randn(1, 1), requires_grad=True)
print(isinstance(W, torch.Tensor))
for _ in range(60):
    prediction = torch.mm(W, x)
    loss = torch.sum(torch.abs(prediction - y))
    loss.backward()
    W.data -= W.grad.data * 0.001
    W.grad.data.zero_()
print(W, loss)
