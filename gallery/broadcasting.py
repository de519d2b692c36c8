import torch

prices = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
discount = torch.tensor([0.9, 0.8, 0.5], requires_grad=True)  # ~ 0..1
shipping = torch.tensor([[10.0], [20.0]], requires_grad=True)

cost = prices * discount + shipping  # ? cost.shape
cost.sum().backward()  # ? shipping.grad

print(cost)
print("discount.grad", discount.grad)
print("shipping.grad", shipping.grad)
