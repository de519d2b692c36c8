import torch

video = torch.arange(24.0).view(2, 3, 4)
frames, height, width = video.shape
print("order", video.ndim, "-", frames, "frames of", height, "by", width)
print("first frame's last row", video[0, -1])

column = torch.tensor([1.0, 2.0, 3.0]).unsqueeze(1)
print("unsqueeze(1)", column.shape, "- squeeze()", column.squeeze().shape)
print("squeeze(0) changes nothing:", column.squeeze(0).shape)

flat = video.view(2, -1)
turned = video.permute(2, 0, 1)  # ? turned.shape
print("view(2, -1)", flat.shape, "- permute(2, 0, 1)", turned.shape)
print("strides", video.stride(), turned.stride())

x = torch.arange(6.0, requires_grad=True)
table = x.view(2, 3).unsqueeze(0)
weights = torch.tensor([1.0, 10.0, 100.0])  # ~ 0..100 by 1
(table * weights).sum().backward()  # ? x.grad
print("x.grad", x.grad, x.grad.shape)
