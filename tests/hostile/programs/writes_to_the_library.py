import torch

open(torch.__file__, "a").write("x")
