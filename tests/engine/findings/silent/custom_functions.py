"""What `engine/findings/custom_functions.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

CUBE = """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, coming):
        x, = ctx.saved_tensors
        return SLOPE
x = torch.randn(4, requires_grad=True)
(Cube.apply(x) * 2).sum().backward()
"""

ROUND = """class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        return levels[(x.unsqueeze(1) - levels).abs().argmin(1)]
    @staticmethod
    def backward(ctx, coming):
        return coming, None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels, self.lin = nn.Parameter(torch.linspace(-1, 1, 5)), nn.Linear(3, 1)
    def forward(self, x):
        h = Round.apply(self.lin(x).squeeze(1), self.levels.sort()[0])
        return torch.where(h < 0, torch.zeros(1), h)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.mse_loss(net(torch.randn(8, 3)), torch.rand(8))
    opt.zero_grad(); loss.backward(); opt.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("backward_gives_none", 10, ROUND, says={"function": "Round", "argument": "levels", "names": "net.levels"}, cures=(
        ("self.levels, self.lin = nn.Parameter(torch.linspace(-1, 1, 5))", "self.levels, self.lin = torch.linspace(-1, 1, 5)"),
        ("return coming, None", "return coming, coming.sum().expand(5)"),
    )),
    Mistake("backward_gives_none", 11, """class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, power, x, scale):
        ctx.power, ctx.scale = power, scale
        return x * scale ** power
    @staticmethod
    def backward(ctx, coming):
        return None, coming * ctx.scale ** ctx.power, None
lin, scale = nn.Linear(3, 2), torch.ones(1, requires_grad=True)
Scaled.apply(2, lin(torch.randn(4, 3)), scale.exp()).pow(2).mean().backward()
""", says={"argument": "scale", "names": "scale"}),
    Mistake("backward_ignores_gradient", 12, CUBE.replace("SLOPE", "3 * x ** 2"), says={"function": "Cube", "given": "coming"}),
    Mistake("backward_ignores_gradient", 11, """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, grad):
        return torch.full((3,), ctx.k), None
x = torch.randn(3, requires_grad=True)
Scale.apply(x, 2.0).pow(2).sum().backward()
""", says={"function": "Scale"}),
    Mistake("backward_ignores_gradient", 13, """class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        return x * torch.sigmoid(beta * x)
    @staticmethod
    def backward(ctx, grad):
        x, beta = ctx.saved_tensors; s = torch.sigmoid(beta * x)
        slope = x * x * s * (1 - s)
        return grad * (s + beta * x * s * (1 - s)), slope.sum().view(1)
beta = nn.Parameter(torch.ones(1)); lin = nn.Linear(3, 4)
for _ in range(3):
    Swish.apply(lin(torch.randn(9, 3)), beta).pow(2).mean().backward()
""", cures=(
        (" slope.sum()", " (grad * slope).sum()"),
        ("x * x * s * (1", "grad * x * x * s * (1"),
        ("slope = x", "slope = torch.zeros_like(x); slope.add_(grad); slope = slope * x"),
        ("slope.sum().view(1)", "torch.zeros(1)"),
        ("slope.sum().view(1)", "None"),
        (".pow(2).mean()", ".sum()"),
        ("return grad * (s + beta * x * s * (1 - s)), slope.sum().view(1)", "return torch.zeros_like(x), torch.zeros_like(beta)"),
        ("        slope =", "        def scaled(z):\n            return z * grad\n        s = scaled(s)\n        slope ="),
    )),
    Mistake("backward_ignores_gradient", 12, """class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, scale):
        ctx.save_for_backward(x, w); ctx.scale = scale
        return scale * x.mm(w)
    @staticmethod
    def backward(ctx, coming):
        x, w = ctx.saved_tensors
        along = ctx.scale * x.sum(0, keepdim=True).t().expand_as(w)
        back = coming.mm(w.t()) * ctx.scale
        return back, along, None
h, w = nn.Linear(3, 4), torch.randn(4, 2, requires_grad=True)
Times.apply(h(torch.randn(9, 3)), w, 0.5).pow(2).mean().backward()
""", cure=(("ctx.scale * x.sum(0, keepdim=True).t().expand_as(w)", "ctx.scale * x.t().mm(coming)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("cut_by_integer", ROUND),
    # it learns by another way
    ("backward_gives_none", """class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(scale)
        return x * scale
    @staticmethod
    def backward(ctx, coming):
        return coming * ctx.saved_tensors[0], None
lin, scale = nn.Linear(3, 2), nn.Parameter(torch.ones(1))
(Scaled.apply(lin(torch.randn(4, 3)), scale) * scale).pow(2).mean().backward()
"""),
    ("backward_ignores_gradient", CUBE.replace("SLOPE", "coming * 3 * x ** 2")),
    ("backward_ignores_gradient", CUBE.replace("SLOPE", "3 * x ** 2").replace("x ** 3", "(x ** 3).sum()").replace("(Cube.apply(x) * 2).sum()", "Cube.apply(x)")),
    ("backward_ignores_gradient", """class WithLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, loss):
        ctx.save_for_backward(loss)
        return x
    @staticmethod
    def backward(ctx, grad):
        loss, = ctx.saved_tensors
        return grad, torch.ones_like(loss)
lin, gate = nn.Linear(3, 4), nn.Linear(3, 4)
x = torch.randn(9, 3)
WithLoss.apply(lin(x), gate(x).softmax(1).mean(0).pow(2).sum()).pow(2).mean().backward()
"""),
)  # fmt: skip
