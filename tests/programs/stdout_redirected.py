import contextlib
import io
import sys
import torch

buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print(torch.ones(1))
print("captured:", buffer.getvalue().strip())
sys.stdout.buffer.write(b"bytes\n")
sys.stdout.flush()
print("a", "b", sep="-", end="!\n", flush=True)
print("to err", file=sys.stderr)
sys.__stdout__.write("through __stdout__\n")
