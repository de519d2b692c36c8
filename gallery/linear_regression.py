import torch

hours = torch.tensor([1.0, 2.0, 3.0, 4.0])
score = torch.tensor([3.0, 5.0, 7.0, 9.0])  # ~ 0..12

slope = torch.tensor(0.0, requires_grad=True)
offset = torch.tensor(0.0, requires_grad=True)

for epoch in range(5):  # ~ 2..20
    predicted = slope * hours + offset
    loss = ((predicted - score) ** 2).mean()
    loss.backward()  # ? slope.grad

    with torch.no_grad():
        slope -= 0.05 * slope.grad  # ? slope @ 2
        offset -= 0.05 * offset.grad
    slope.grad = None
    offset.grad = None
    print(f"epoch {epoch}: loss {loss.item():.3f}")

print(f"score = {slope.item():.2f} * hours + {offset.item():.2f}")
