"""Everything that depends on the insides of PyTorch and CPython: private names, and the patches made to public ones."""
