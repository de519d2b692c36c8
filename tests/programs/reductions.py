import torch

x = torch.arange(1.0, 7.0).view(2, 3).requires_grad_()
parts = [x.sum(0), x.mean(1, keepdim=True), x.std(), x.var(0, correction=0), x.norm(), x.prod(1), x.amax(1),
         x.logsumexp(0), x.cumsum(1), x.cumprod(0), x.softmax(1), x.log_softmax(0), x.quantile(0.5)]
sum(p.sum() for p in parts).backward()
print(x.grad)
