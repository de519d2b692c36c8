import torch

class Tracked(torch.Tensor):
    log = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(getattr(func, "__name__", "?"))
        return super().__torch_function__(func, types, args, kwargs or {})

t = torch.ones(2).as_subclass(Tracked)
s = (t + 1) * 3
print(Tracked.log[:3], type(s).__name__, s.sum().item())
