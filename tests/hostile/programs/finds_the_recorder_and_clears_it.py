import torch

mode = torch._C._get_function_stack_at(0)
mode.ledger.rows.clear()
mode.ledger.rows = None
print(torch.ones(2) * 2)
