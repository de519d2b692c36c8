import torch

mode = torch._C._get_function_stack_at(0)
mode.recorder.outbox.rows.clear()
mode.recorder.outbox.rows = None
print(torch.ones(2) * 2)
