import torch
import torch.autograd.forward_ad as fwAD

x = torch.tensor([1.0, 2.0], requires_grad=True)
with fwAD.dual_level():
    d = fwAD.make_dual(x, torch.tensor([1.0, 0.5]))
    y = (d.sin() * d).sum()
    value, tangent = fwAD.unpack_dual(y)
    print(value.item(), tangent.item())
    tangent.backward()  # the derivative of a derivative, through the tangents' own nodes
    print(fwAD.unpack_dual(torch.cat([d[None], torch.zeros(1, 2)])).tangent)
print(x.grad)
print(torch._efficientzerotensor(3) + 1)  # what a derivative that is nowhere is made of
