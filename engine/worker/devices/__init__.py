"""Devices that a program asks for in a comment and this machine lacks: the CPU computes, a label says what is where.

`labels` knows the device of each storage, `simulated` is the mode that keeps PyTorch's rules, and `asked` reads the
comment and puts these in the place of `torch.cuda`.
"""
