import torch

x = torch.tensor([2.0, 11.0], requires_grad=True)
accumulator = (x * 1).grad_fn.next_functions[0][0]
fired = []
handle = accumulator.register_prehook(lambda grads: fired.append(grads[0].tolist()))
x.register_post_accumulate_grad_hook(lambda t: fired.append(t.grad.tolist()))
(x * x).sum().backward()
handle.remove()
(-x).sum().backward()
print(fired)
