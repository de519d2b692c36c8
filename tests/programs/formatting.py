import torch

x = torch.tensor([1.23456, 1000.0], requires_grad=True)
s = x[0]
print(f"{s:.2f} {s.item():8.3f} {x} {x.shape} {x.tolist()!r}")
print("%s | {} | %.3f".replace("%.3f", "%.3f") % (s.detach(), s))
torch.set_printoptions(precision=2, sci_mode=False)
print(x, str(x * 2), repr(s))
print(*x.detach().numpy(), sep="; ", end="\n--\n")
