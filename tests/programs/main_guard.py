import torch

def main() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (x ** 2).backward()
    print(__name__, x.grad)

if __name__ == "__main__":
    main()
