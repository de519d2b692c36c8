import asyncio
import torch

async def step(x, delay):
    await asyncio.sleep(delay)
    return x * 2

async def main():
    x = torch.tensor([1.0], requires_grad=True)
    a, b = await asyncio.gather(step(x, 0.2), step(x + 1, 0.001))
    (a * b).sum().backward()
    return x.grad

grad = asyncio.run(main())
print(grad)
