"""Ranks of `torch.distributed` as threads of one process: a sandbox has neither sockets nor processes to give.

`turns` lets one rank run at a time, `processes` starts ranks where a program starts processes, `group` is the process
group they meet in, and `replacements` puts these in the place of PyTorch's.
"""
