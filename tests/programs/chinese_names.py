import torch

权重 = torch.tensor([1.0, 2.0], requires_grad=True)
损失 = (权重 ** 2).sum()
损失.backward()
print("梯度：", 权重.grad, "✓")
print(f"损失为 {损失.item():.1f}")
