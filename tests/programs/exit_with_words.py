import torch

print(torch.zeros(1))
raise SystemExit("stopped on purpose")
