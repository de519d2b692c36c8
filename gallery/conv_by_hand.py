import torch


def correlate(image, kernel):
    rows, columns = kernel.shape
    result = torch.zeros(image.shape[0] - rows + 1, image.shape[1] - columns + 1)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            window = image[i:i + rows, j:j + columns]
            result[i, j] = (window * kernel).sum()
    return result


image = torch.tensor([[0.0, 0.0, 1.0, 1.0]] * 3)
kernel = torch.tensor([[-1.0, 1.0], [-1.0, 1.0]], requires_grad=True)  # ~ -2..2

edges = correlate(image, kernel)  # ? edges.shape
edges.sum().backward()  # ? kernel.grad
print(edges)
print("kernel.grad", kernel.grad)

built_in = torch.nn.functional.conv2d(image[None, None], kernel[None, None])
print(built_in.grad_fn.name(), "agrees:", torch.equal(built_in[0, 0], edges))
