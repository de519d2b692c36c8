import torch

torch.manual_seed(0)

listed = torch.tensor([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]])
counted = torch.arange(0, 10, 3)  # ? counted
spaced = torch.linspace(0, 10, steps=5)  # ? spaced
# ~ steps 2..11
empty_room = torch.zeros(2, 3, dtype=torch.int64)  # ? empty_room.dtype
diagonal = torch.eye(3)
even = torch.rand(1000)
bell = torch.randn(1000)
spread = torch.empty(1000).uniform_(-1, 1)
dice = torch.randint(1, 7, (600,))
order = torch.randperm(6)

print("list", listed.shape, listed.dtype)
print("arange", counted, "linspace", spaced)
print("zeros", empty_room.dtype, "eye", diagonal.sum().item())
print("rand in [0, 1):", bool((even >= 0).all() and (even < 1).all()))
print("randn: mean", round(bell.mean().item(), 2), "std", round(bell.std().item(), 2))
print("uniform_ in [-1, 1):", bool((spread >= -1).all() and (spread < 1).all()))
print("dice from", dice.min().item(), "to", dice.max().item())
print("order", order.sort().values)
