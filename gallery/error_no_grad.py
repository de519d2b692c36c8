import torch  # ? error.line

w = torch.tensor([1.0, 2.0], requires_grad=True)  # ~ -3..3
x = torch.tensor([3.0, 4.0])

prediction = (w * x).sum()
loss = torch.tensor((prediction.item() - 10) ** 2)

loss.backward()
print(w.grad)
