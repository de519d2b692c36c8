import os
import torch

os.environ["CUDA_VISIBLE_DEVICES"] = "2"
CUDA_VISIBLE_DEVICES=0,1 python train.py
