import torch
from torch import nn

predicted = torch.tensor([2.0, -1.0, 4.0], requires_grad=True)  # ~ -4..4
wanted = torch.tensor([1.0, 1.0, 1.0])
for loss_fn in (nn.MSELoss(), nn.L1Loss(), nn.HuberLoss()):
    loss = loss_fn(predicted, wanted)  # ? loss
    (grad,) = torch.autograd.grad(loss, predicted)  # ? grad @ 2
    print(type(loss_fn).__name__, round(loss.item(), 4), grad, type(loss.grad_fn).__name__)

logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]], requires_grad=True)
classes = torch.tensor([0, 1])
loss = nn.CrossEntropyLoss()(logits, classes)
by_hand = -torch.log_softmax(logits, dim=1)[[0, 1], classes].mean()
print("cross entropy", round(loss.item(), 4), "by hand", round(by_hand.item(), 4))
loss.backward()
print("softmax - one-hot, over the batch:")
print((logits.detach().softmax(dim=1) - nn.functional.one_hot(classes, 3)) / 2)
print(logits.grad)
