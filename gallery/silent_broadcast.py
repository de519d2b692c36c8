import torch

x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
target = torch.tensor([3.0, 5.0, 7.0, 9.0])
slope = torch.tensor(2.0, requires_grad=True)  # ~ -3..3
shift = torch.tensor(1.0, requires_grad=True)  # ~ -3..3

prediction = slope * x + shift  # ? prediction.shape
loss = ((prediction - target) ** 2).mean()  # ? loss
loss.backward()

print("loss", loss.item())
print("slope.grad", slope.grad, "shift.grad", shift.grad)
