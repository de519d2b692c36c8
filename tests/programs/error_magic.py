import torch
!pip install torchvision
x = torch.ones(2)
