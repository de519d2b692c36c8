import torch

print(open(torch.__file__.partition("/.venv")[0] + "/pyproject.toml").read())
