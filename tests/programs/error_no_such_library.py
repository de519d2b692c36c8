import torch
import torchvision_of_my_own

x = torch.ones(1)
