import torch

device = torch.device("cuda" if torch.cuda.is_available() and False else "cpu")
x = torch.ones(2, device=device)
same = x.to(device)
wide = x.to("cpu", torch.double)
print(same is x, wide.dtype, x.device, torch.cuda.device_count() >= 0)
