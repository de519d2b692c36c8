import torch

torch.manual_seed(0)
pattern = torch.ones(2, 3, dtype=torch.float64)

same = torch.zeros_like(pattern)  # ? same.dtype
other = torch.randn_like(pattern, dtype=torch.float32)
wider = pattern.new_full((2, 4), 7.0)  # ? wider.dtype
print("zeros_like", same.shape, same.dtype)
print("randn_like", other.shape, other.dtype)
print("new_full", wider.shape, wider.dtype)

untouched = torch.empty(2, 3)
by_size = torch.FloatTensor(2, 3)
by_list = torch.FloatTensor([2, 3])
print("sizes:", by_size.shape, "- a list:", by_list)

untouched.fill_(0.5)  # ~ 0..1
by_size.copy_(untouched)
pattern.zero_()
print("filled", untouched, "- copied", by_size, "- zeroed", pattern)
