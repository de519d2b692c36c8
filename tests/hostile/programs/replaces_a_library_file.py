import os

import torch

os.replace("/dev/null", torch.__file__)
