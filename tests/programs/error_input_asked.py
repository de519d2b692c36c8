import torch

n = int(input("how many? "))
x = torch.ones(n)
