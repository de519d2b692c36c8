import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print("computing on", device.type)

x = torch.ones(1000, device=device, requires_grad=True)  # ~ 1..2000
same = x.to(device)
other_type = x.to(device, torch.float64)  # ? other_type.dtype
print("to the same device: the same object?", same is x)
print("to another dtype:", other_type.dtype, "a new tensor:", other_type is not x)

total = (x * 2).sum()
total.backward()  # ? x.grad.shape
print("results stay where their inputs are:", total.device == x.device == x.grad.device)

moved = 0
for turn in range(3):
    back = total.detach().to("cpu").to(device)
    moved += 2 * back.nbytes
print("bytes to the CPU and back in three turns, with a GPU:", moved)
if torch.cuda.is_available():
    x.cpu() + x
