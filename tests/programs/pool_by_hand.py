import torch

def pool2d(X, size, mode="max"):
    h, w = size
    Y = torch.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            window = X[i:i + h, j:j + w]
            Y[i, j] = window.max() if mode == "max" else window.mean()
    return Y

for mode in ("max", "avg"):
    X = torch.tensor([[0.0, 1, 2], [4, 5, 6], [7, 8, 9]], requires_grad=True)
    Y = pool2d(X, (2, 2), mode)
    Y.sum().backward()
    print(Y, X.grad)
