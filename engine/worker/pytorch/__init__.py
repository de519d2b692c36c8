"""What depends on the insides of PyTorch and CPython, and knows nothing of what is recorded."""
