import torch  # ? error.line

x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)  # ~ -2..2

grown = torch.exp(x)
grown += 1
loss = grown.sum()

loss.backward()
print(x.grad)
