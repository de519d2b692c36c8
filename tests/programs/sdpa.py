import torch
from torch.nn import functional as F

q, k, v = (torch.randn(1, 2, 4, 3, requires_grad=True) for _ in range(3))
y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
y.sum().backward()
mask = torch.zeros(4, 4).masked_fill(torch.eye(4) == 1, -1e9)
z = F.scaled_dot_product_attention(q[0], k[0], v[0], attn_mask=mask)
z.pow(2).sum().backward()
print(y.shape, q.grad.shape, type(y.grad_fn).__name__)
