import torch
import torch.autograd.forward_ad as fwAD

x = torch.tensor([1.0, 2.0])
with fwAD.dual_level():
    dual = fwAD.make_dual(x, torch.tensor([1.0, 0.0]))
    out = fwAD.unpack_dual((dual ** 2).sum())
    print(out.primal, out.tangent)
value, tangent = torch.func.jvp(lambda t: t.sin(), (x,), (torch.ones(2),))
print(value, tangent)
