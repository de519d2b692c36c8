"""Programs that run and are wrong, with what is said of them, and near misses that are right."""

from typing import NamedTuple

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
"""Three lines: the programs begin on line 4."""

TRAIN = """x, y = torch.randn(8, 2), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
"""Lines 4 to 6."""

DROP = """x, y = torch.randn(8, 2), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""

PAIR = """x = torch.randn(6, 3)
encoder = nn.Linear(3, 2)
decoder = nn.Linear(2, 3)
"""
CODED = """for i in range(3):
    opt.zero_grad()
    F.mse_loss(decoder(encoder(x)), x).backward()
    opt.step()
"""
LOOP = """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
"""


class Case(NamedTuple):
    """A program, the line its finding names, and words of its sentence."""

    code: str
    line: int
    parameters: dict[str, str]
    program: str


TRIGGERS: tuple[Case, ...] = (
    # NaN and infinity
    Case("log_of_zero", 5, {"operand": "p", "place": "[1]", "value": "0"}, """p = torch.tensor([0.5, 0.0], requires_grad=True)
loss = -(p * torch.log(p)).sum()
loss.backward()
"""),
    Case("log_of_zero", 5, {"operand": "x", "place": "[0, 0]", "name": "y"}, """x = torch.zeros(2, 2, requires_grad=True)
y = x.log()
y.sum().backward()
"""),
    Case("log_of_negative", 5, {"operand": "x", "value": "-1", "place": "[0]"}, """x = torch.tensor([-1., 1.], requires_grad=True)
y = x.log()
y.sum().backward()
"""),
    Case("log_of_negative", 5, {"operand": "logits", "value": "-3", "op": "log2"}, """logits = torch.tensor([[2., -3.]], requires_grad=True)
loss = -logits.log2().mean()
loss.backward()
"""),
    Case("root_of_negative", 5, {"operand": "x", "value": "-4", "place": "[1]"}, """x = torch.tensor([4., -4.], requires_grad=True)
y = torch.sqrt(x)
y.sum().backward()
"""),
    Case("root_of_negative", 5, {"operand": "x", "value": "-8", "place": ""}, """x = torch.tensor(-8., requires_grad=True)
y = x ** 0.5
y.backward()
"""),
    Case("division_by_zero", 5, {"operand": "a", "made": "nan"}, """a = torch.zeros(2)
b = a / a
print(b * 2)
"""),
    Case("division_by_zero", 6, {"operand": "a", "made": "inf"}, """a = torch.tensor(0.0, requires_grad=True)
r = torch.sqrt(a)
q = 2 / a
(r + torch.exp(-q)).backward()
"""),
    Case("division_by_zero", 5, {"operand": "x", "place": "[0]", "made": "inf"}, """x = torch.tensor([0., 1.], requires_grad=True)
y = 1 / x
y.sum().backward()
"""),
    Case("overflow", 5, {"operand": "x", "value": "100"}, """x = torch.tensor(100., requires_grad=True)
y = x.exp()
y.backward()
"""),
    Case("overflow", 5, {"operand": "z", "place": "[0, 1]"}, """z = torch.tensor([[1., 200.]], requires_grad=True)
p = torch.exp(z) / torch.exp(z).sum()
p[0, 0].backward()
"""),
    Case("diverged", 8, {"operand": "w", "step_line": "10"}, """w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for i in range(60):
    opt.zero_grad()
    loss = ((w * 3 - 1) ** 2).sum()
    loss.backward()
    opt.step()
"""),
    Case("diverged", 6, {"operand": "w", "step_line": "9"}, """w = torch.tensor(2.0, requires_grad=True)
for i in range(9):
    loss = w ** 4
    loss.backward()
    with torch.no_grad():
        w -= 5 * w.grad
    w.grad = None
"""),
    Case("softmax_of_masked_row", 5, {"op": "softmax"}, """m = torch.full((2, 2), float('-inf'))
p = torch.softmax(torch.ones(2, 2) + m, 1)
print(p)
"""),
    Case("softmax_of_masked_row", 6, {"operand": "hidden"}, """s = torch.randn(3, 3, requires_grad=True)
hidden = s.masked_fill(torch.ones(3, 3).bool(), float('-inf'))
a = F.softmax(hidden, dim=-1)
a.sum().backward()
"""),
    Case("root_at_zero", 5, {"base": "(x[0] ** 2)"}, """x = torch.tensor([0., 1.], requires_grad=True)
r = (x[0] ** 2).sqrt()
r.backward()
"""),
    Case("root_at_zero", 5, {"operand": "x", "node": "SqrtBackward0", "pass_line": "6"}, """x = torch.tensor([0., 1.], requires_grad=True)
y = x.sqrt().sum()
y.backward()
"""),
    Case("root_at_zero", 5, {"op": "sqrt", "pass_line": "6"}, """x = torch.zeros(2, requires_grad=True)
d = torch.sqrt((x * 2).sum())
d.backward()
"""),
    Case("nan_behind_where", 5, {"operand": "x", "pass_line": "6"}, """x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), x)
y.sum().backward()
"""),
    Case("nan_behind_where", 5, {"pass_line": "7"}, """x = torch.tensor([0.0, 2.0], requires_grad=True)
r = x ** 0.5
y = torch.where(x > 0, r, torch.zeros(2))
y.sum().backward()
"""),
    # Ways that lead around autograd
    Case("cut_by_integer", 6, {"leaf": "w", "op": "long", "dtype": "int64"}, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
k = (w * 2).long()
loss = (k * b).sum()
loss.backward()
"""),
    Case("cut_by_integer", 6, {"leaf": "limit", "op": ">", "dtype": "bool"}, """limit = torch.tensor(1.5, requires_grad=True)
x = torch.tensor([1., 2.], requires_grad=True)
mask = x > limit
(mask.float() * x).sum().backward()
"""),
    Case("cut_by_integer", 5, {"leaf": "z", "op": "topk"}, """z = torch.randn(4, 3, requires_grad=True)
top = z.topk(1).indices
c = torch.ones(1, requires_grad=True)
(top.float() * c).mean().backward()
"""),
    Case("cut_by_numpy", 7, {"leaf": "w", "op": "detach"}, """import numpy as np
w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
h = (w * 3).detach().numpy()
h = np.square(h)
loss = (torch.from_numpy(h) * b).sum()
loss.backward()
"""),
    Case("cut_by_numpy", 6, {"leaf": "w"}, """w = torch.tensor([1., 2.], requires_grad=True)
c = torch.ones(2, requires_grad=True)
loss = (torch.tensor((w * 3).detach().numpy() + 1) * c).sum()
loss.backward()
"""),
    Case("leaf_recreated", 5, {"leaf": "w", "name": "h"}, """w = torch.tensor([1., 2.], requires_grad=True)
h = (w * 2).detach().requires_grad_()
loss = (h ** 2).sum()
loss.backward()
"""),
    Case("leaf_recreated", 6, {"leaf": "w", "name": "v", "op": "tensor"}, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
v = torch.tensor((w * 2).tolist(), requires_grad=True)
loss = (v * b).sum()
loss.backward()
"""),
    # Leaves
    Case("leaf_made_non_leaf", 4, {"name": "w", "op": "*"}, """w = torch.randn(3, requires_grad=True) * 0.01
(w ** 2).sum().backward()
print(w.grad)
"""),
    Case("leaf_made_non_leaf", 4, {"name": "w", "op": "to"}, """w = torch.ones(2, requires_grad=True).to(torch.float64)
w.sum().backward()
g = w.grad
"""),
    Case("grad_of_non_leaf", 7, {"name": "y", "op": "*", "made_line": "5"}, """x = torch.ones(2, requires_grad=True)
y = x * 2
y.sum().backward()
print(y.grad)
"""),
    Case("grad_of_non_leaf", 7, {"name": "x", "op": "double", "made_line": "5"}, """x = torch.ones(2, requires_grad=True)
x = x.double()
x.sum().backward()
print(x.grad)
"""),
    Case("grad_of_untracked", 8, {"name": "b"}, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.])
loss = (w * b).sum()
loss.backward()
print(w.grad, b.grad)
"""),
    Case("grad_of_untracked", 7, {"name": "x"}, """x = torch.ones(3)
w = torch.full((3,), 2.0, requires_grad=True)
(x * w).sum().backward()
g = x.grad
"""),
    Case("leaf_rebound", 7, {"name": "w"}, """w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
w = w - 0.1 * w.grad
print(w)
"""),
    Case("leaf_rebound", 8, {"name": "a"}, """a = torch.tensor(3.0, requires_grad=True)
lr = 0.5
for i in range(1):
    (a * a).backward()
    a = a - lr * a.grad
"""),
    Case("parameter_made_in_forward", 8, {"count": "1"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
    def forward(self, x): return (nn.Parameter(self.w * 2) * x).sum()
net = Net()
net(torch.ones(2)).backward()
"""),
    Case("parameter_made_in_forward", 9, {"count": "2"}, """class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
    def forward(self, x):
        s = nn.Parameter(torch.ones(2))
        return self.lin(x) * s
net = Scale()
for i in range(2):
    net(torch.ones(3, 2)).sum().backward()
"""),
    Case("modules_in_plain_list", 7, {"name": "self.layers", "better": "nn.ModuleList", "type": "list"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]
        self.head = nn.Linear(1, 1)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(3, 2)).sum().backward()
opt.step()
"""),
    Case("modules_in_plain_list", 7, {"name": "self.ws", "better": "nn.ParameterList"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = [nn.Parameter(torch.ones(2, 2)) for _ in range(2)]
    def forward(self, x):
        return x @ self.ws[0] @ self.ws[1]
net = Net()
net(torch.ones(3, 2)).sum().backward()
"""),
    # The order of training
    Case("zero_grad_before_step", 10, {"pass_line": "9", "step_line": "11"}, TRAIN + """for i in range(3):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.zero_grad()
    opt.step()
"""),
    Case("zero_grad_before_step", 9, {"pass_line": "8", "step_line": "10"}, TRAIN + """loss = F.mse_loss(model(x), y)
loss.backward()
model.zero_grad(set_to_none=False)
opt.step()
"""),
    Case("step_without_backward", 10, {"optimizer": "opt"}, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    opt.step()
"""),
    Case("step_without_backward", 10, {"optimizer": "opt"}, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    opt.step()
    loss.backward()
"""),
    Case("optimizer_holds_others", 7, {"optimizer": "opt", "made_line": "6"}, TRAIN + """model = nn.Linear(2, 1)
for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
"""),
    Case("optimizer_holds_others", 9, {"optimizer": "opt"}, """x, y = torch.randn(8, 2), torch.randn(8, 1)
model, other = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.Adam(other.parameters())
loss = F.mse_loss(model(x), y)
loss.backward()
opt.step()
"""),
    Case("model_without_optimizer", 7, {"model": "encoder", "trained": "decoder", "optimizer": "opt", "count": "2", "passes": "3"},
         PAIR + "opt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    Case("model_without_optimizer", 8, {"model": "head", "trained": "body", "count": "2"}, """x, y = torch.randn(6, 3), torch.randn(6, 1)
body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
head = nn.Linear(4, 1)
def train():
    opt = torch.optim.Adam(body.parameters(), lr=0.01)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(head(body(x)), y).backward()
        opt.step()
train()
"""),
    Case("not_in_optimizer", 6, {"optimizer": "opt", "model": "model", "count": "2"}, TRAIN + "model[2] = nn.Linear(3, 1)\n" + LOOP),
    Case("not_in_optimizer", 11, {"optimizer": "opt", "model": "net", "count": "2"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)
    def forward(self, x):
        return self.head(self.body(x))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.head = nn.Linear(2, 3)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(4, 2)).pow(2).mean().backward()
    opt.step()
"""),
    Case("backward_without_step", 10, {"optimizer": "opt", "count": "3"}, TRAIN + """for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
"""),
    Case("backward_without_step", 8, {"optimizer": "adam", "count": "2"}, """w = torch.ones(2, requires_grad=True)
adam = torch.optim.Adam([w])
for i in range(2):
    adam.zero_grad()
    (w ** 2).sum().backward()
"""),
    Case("method_not_called", 11, {"code": "opt.step", "method": "step"}, TRAIN + LOOP.replace("opt.step()", "opt.step")),
    Case("method_not_called", 6, {"code": "y.backward", "method": "backward"}, """x = torch.ones(2, requires_grad=True)
y = (x * 3).sum()
y.backward
print(x.grad)
"""),
    Case("scheduler_before_step", 12, {"step_line": "13"}, TRAIN + """sched = torch.optim.lr_scheduler.StepLR(opt, 1)
for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    sched.step()
    opt.step()
"""),
    Case("scheduler_before_step", 9, {"step_line": "10"}, """w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
for i in range(2):
    (w ** 2).sum().backward()
    sched.step()
    opt.step()
    opt.zero_grad()
"""),
    Case("step_without_zero_grad", 9, {"names": "model.0.weight, model.0.bias, model.2.weight (+1)"}, TRAIN + """for i in range(3):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
"""),
    Case("step_without_zero_grad", 6, {"names": "w"}, """w = torch.ones(2, requires_grad=True)
for i in range(3):
    (w ** 2).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""),
    Case("unused_parameters", 8, {"model": "net", "count": "2"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(2, 1)
        self.spare = nn.Linear(2, 1)
    def forward(self, x):
        return self.used(x)
net = Net()
net(torch.ones(3, 2)).sum().backward()
"""),
    Case("unused_parameters", 8, {"model": "net", "count": "1", "names": "net.b"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2))
        self.b = nn.Parameter(torch.ones(2))
    def forward(self, x):
        return self.a * x
net = Net()
net(torch.ones(2)).sum().backward()
"""),
    # Modes
    Case("trained_in_eval", 9, {"module": "model.1", "type": "Dropout", "eval_line": "12"}, DROP + """for epoch in range(2):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        model(x)
"""),
    Case("trained_in_eval", 10, {"module": "net.1", "type": "BatchNorm1d"}, """x = torch.randn(8, 2)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def epoch():
    opt.zero_grad()
    out = net(x)
    out.pow(2).mean().backward()
    opt.step()
for i in range(3):
    epoch()
    net.eval()
""".replace("    out = net(x)\n    out.pow(2).mean().backward()\n", "\n    net(x).pow(2).mean().backward()\n")),
    Case("trained_in_eval", 17, {"module": "net.1", "type": "BatchNorm1d", "eval_line": "8", "trained": "0"}, """x = torch.randn(8, 2)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def check():
    net.eval()
    with torch.no_grad():
        return net(x).pow(2).mean()
for epoch in range(2):
    net.train()
    for turn in range(2):
        if turn == 0:
            check()
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
"""),
    Case("evaluated_in_train", 13, {"layers": "model.1 (Dropout)", "norms": "0"}, DROP + LOOP + """with torch.no_grad():
    print(model(x).mean())
"""),
    Case("evaluated_in_train", 9, {"layers": "net.1 (BatchNorm1d)", "drops": "0"}, """net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(8, 2)).pow(2).mean().backward()
opt.step()
with torch.inference_mode():
    print(net(torch.randn(4, 2)))
"""),
    Case("evaluated_in_train", 14, {"layers": "model.1 (Dropout)"}, DROP + "losses = []\n" + LOOP + """    with torch.no_grad():
        losses.append(F.mse_loss(model(x), y))
print(torch.stack(losses))
"""),
    Case("evaluated_with_grad", 13, {"module": "model", "count": "1"}, TRAIN + LOOP + """model.eval()
print(model(x).mean().item())
"""),
    Case("evaluated_with_grad", 14, {"module": "model", "count": "2"}, DROP + LOOP + """model.eval()
for part in x.split(4):
    print(model(part).mean().item())
"""),
    Case("switch_without_with", 6, {"code": "torch.inference_mode()"}, """def shown(x):
    # values only
    torch.inference_mode()
    return x * 2
shown(torch.ones(2, requires_grad=True))
"""),
    Case("switch_without_with", 5, {"code": "torch.no_grad()"}, """x = torch.ones(2, requires_grad=True)
torch.no_grad()
y = x * 2
"""),
    Case("loss_broadcast", 6, {"shape": "4×4", "first_shape": "4×1", "second_shape": "4"}, """model = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4)
loss = F.mse_loss(model(x), y)
loss.backward()
"""),
    Case("loss_broadcast", 6, {"shape": "3×3", "second": "target"}, """pred = torch.randn(3, requires_grad=True)
target = torch.randn(3, 1)
loss = nn.L1Loss()(pred, target)
loss.backward()
"""),
    Case("difference_broadcast", 6, {"shape": "4×4", "first": "model(x)", "second": "y"}, """model = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4)
loss = ((model(x) - y) ** 2).mean()
loss.backward()
"""),
    Case("difference_broadcast", 8, {"shape": "5×5", "first": "pred", "second": "y"}, """w = torch.randn(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5)
pred = x @ w + b
error = y - pred
error.abs().mean().backward()
"""),
    Case("softmax_before_cross_entropy", 7, {"op": "softmax", "op_line": "6", "name": "p"}, """z = torch.randn(4, 3, requires_grad=True)
t = torch.tensor([0, 1, 2, 0])
p = torch.softmax(z, dim=1)
loss = F.cross_entropy(p, t)
loss.backward()
"""),
    Case("softmax_before_cross_entropy", 6, {"op": "softmax"}, """model = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
loss = criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0]))
loss.backward()
"""),
    Case("sigmoid_before_logits_loss", 5, {"op": "sigmoid"}, """z, t = torch.randn(4, requires_grad=True), torch.ones(4)
F.binary_cross_entropy_with_logits(torch.sigmoid(z), t).backward()
"""),
    Case("sigmoid_before_logits_loss", 6, {"op": "sigmoid"}, """model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
criterion = nn.BCEWithLogitsLoss()
criterion(model(torch.randn(4, 2)), torch.ones(4, 1)).backward()
"""),
    Case("nll_without_log_softmax", 5, {"name": "z"}, """z = torch.tensor([[1., 2.], [3., -1.]], requires_grad=True)
F.nll_loss(z, torch.tensor([0, 1])).backward()
"""),
    Case("nll_without_log_softmax", 6, {"op": "softmax"}, """model = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.NLLLoss()
criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0])).backward()
"""),
    Case("bce_without_sigmoid", 7, {"name": "out"}, """model = nn.Linear(2, 1, bias=False)
nn.init.constant_(model.weight, 0.25)
out = model(torch.ones(4, 2))
loss = F.binary_cross_entropy(out, torch.ones(4, 1))
loss.backward()
"""),
    Case("bce_without_sigmoid", 6, {"op": "relu"}, """w = torch.tensor([[0.5], [0.25]], requires_grad=True)
criterion = nn.BCELoss()
criterion(F.relu(torch.ones(3, 2) @ w), torch.ones(3, 1)).backward()
"""),
    Case("softmax_without_dim", 5, {"dim": "1", "op": "softmax"}, """z = torch.randn(4, 3, requires_grad=True)
p = F.softmax(z)
p[0, 0].backward()
"""),
    Case("softmax_without_dim", 5, {"dim": "0", "op": "log_softmax"}, """layer = nn.LogSoftmax()
print(layer(torch.randn(3)))
"""),
    # Types
    Case("number_wrapped", 5, {"before": "300", "after": "44", "dtype": "int8"}, """a = torch.tensor([300.0])
b = a.to(torch.int8)
"""),
    Case("number_wrapped", 6, {"before": "300", "after": "44", "dtype": "uint8"}, """a = torch.tensor([200, 10], dtype=torch.uint8)
b = torch.tensor([100, 10], dtype=torch.uint8)
c = a + b
"""),
    Case("squeeze_without_effect", 5, {"name": "x", "shape": "4×4"}, """x = torch.zeros(4, 4)
y = x.squeeze()
"""),
    Case("transpose_without_effect", 5, {"name": "x", "size": "3"}, """x = torch.tensor([1.0, 2.0, 3.0])
y = x.t()
"""),
    Case("transpose_without_effect", 6, {"name": "w", "size": "2"}, """w = torch.ones(2, requires_grad=True)
x = torch.ones(3, 2)
(x @ w.t()).sum().backward()
"""),
    Case("squeeze_without_effect", 5, {"name": "x", "shape": "2×1×3"}, """x = torch.zeros(2, 1, 3)
y = torch.squeeze(x, 0)
"""),
    Case("uninitialised_read", 5, {"name": "e", "op": "+", "made_line": "4"}, """e = torch.empty(3)
f = e + 1
"""),
    Case("uninitialised_read", 5, {"name": "w", "made_line": "4"}, """w = torch.empty(2, 2)
s = torch.matmul(w, torch.ones(2, 2)).sum()
"""),
    Case("uninitialised_print", 6, {"names": "`d`, `e`", "made_line": "4"}, """d = torch.empty(2, 3)
e = torch.empty(3, dtype=torch.int32)
print(d, e)
"""),
    Case("uninitialised_print", 5, {"names": "`x`", "maker": "torch.empty(2, 2)"}, """x = torch.empty(2, 2)
print('x', x)
"""),
    # Devices
    Case("test_without_call", 4, {"code": "torch.cuda.is_available"}, """device = "cuda:1" if torch.cuda.is_available else "cpu"
print(device)
"""),
    Case("test_without_call", 5, {"code": "torch.backends.mps.is_available"}, """device = "cpu"
if not torch.backends.mps.is_available:
    device = "cpu"
x = torch.ones(2, device=device)
"""),
    Case("visible_devices_misspelt", 5, {"written": "CUDA_VISIBLE_DEVICE"}, """import os
os.environ["CUDA_VISIBLE_DEVICE"] = "0"
x = torch.ones(2)
"""),
    Case("visible_devices_misspelt", 5, {"written": "CUDA_VISBLE_DEVICES"}, """import os
os.environ.setdefault('CUDA_VISBLE_DEVICES', '0,1')
x = torch.ones(2)
"""),
    Case("visible_devices_too_late", 6, {"asked_line": "5"}, """import os
has_gpu = torch.cuda.is_available()
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
x = torch.ones(2)
"""),
    Case("visible_devices_too_late", 7, {"asked_line": "5"}, """import os
n = torch.cuda.device_count()
x = torch.ones(n + 1)
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
"""),
    # Graphs kept
    Case("losses_kept", 13, {"list": "losses", "name": "loss", "count": "3"}, "losses = []\n" + TRAIN + LOOP + "    losses.append(loss)\n"),
    Case("losses_kept", 9, {"list": "kept", "count": "2"}, """w = torch.ones(2, requires_grad=True)
kept = []
for i in range(2):
    loss = (w ** 2).sum()
    loss.backward()
    kept.append(loss)
"""),
    Case("total_kept", 13, {"name": "total", "added": "loss", "count": "3"}, "total = 0\n" + TRAIN + LOOP + "    total += loss\n"),
    Case("total_kept", 13, {"name": "total", "added": "loss / 5"}, "total = 0\n" + TRAIN + LOOP + "    total += loss / 5\n"),
    Case("total_kept", 9, {"name": "s", "added": "loss", "count": "4"}, """w = torch.ones(2, requires_grad=True)
s = torch.tensor(0.0)
for i in range(4):
    loss = (w ** 2).sum()
    loss.backward()
    s = s + loss
"""),
    # Flow
    Case("gradient_vanishes", 5, {"count": "11", "first": "net.0.weight"}, """net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(8, 8), nn.Sigmoid())])
net(torch.randn(4, 8)).sum().backward()
"""),
    Case("gradient_vanishes", 10, {"count": "8"}, """layers = nn.ModuleList([nn.Linear(6, 6, bias=False) for _ in range(9)])
for layer in layers:
    nn.init.normal_(layer.weight, std=0.01)
h = torch.randn(5, 6)
def run(h):
    for layer in layers:
        h = torch.tanh(layer(h))
    return h
for i in range(3):
    layers.zero_grad()
    run(h).pow(2).sum().backward()
"""),
    Case("gradient_explodes", 7, {"count": "9", "last": "net.9.weight"}, """net = nn.Sequential(*[nn.Linear(8, 8, bias=False) for _ in range(10)])
for layer in net:
    nn.init.normal_(layer.weight, std=4.0)
net(torch.randn(4, 8)).sum().backward()
"""),
    Case("gradient_explodes", 8, {"count": "7"}, """ws = [torch.full((4, 4), 5.0, requires_grad=True) for _ in range(8)]
x = torch.randn(3, 4) / 1e9
h = x
for w in ws:
    h = h @ w
h.sum().backward()
"""),
    Case("dead_relu", 6, {"name": "net.1", "count": "1", "units": "3"}, """net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
nn.init.constant_(net[0].bias, -100.0)
net(torch.randn(4, 2)).sum().backward()
"""),
    Case("dead_relu", 7, {"count": "2", "units": "5"}, """w = torch.full((2, 5), -1.0, requires_grad=True)
v = torch.ones(5, 1, requires_grad=True)
for i in range(2):
    h = F.relu(torch.ones(4, 2) @ w)
    (h @ v).sum().backward()
"""),
    Case("saturated", 6, {"op": "sigmoid", "share": "100%", "name": "net.1"}, """net = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 1))
nn.init.constant_(net[0].bias, 30.0)
net(torch.randn(4, 2)).sum().backward()
"""),
    Case("saturated", 7, {"op": "tanh", "count": "2"}, """w = torch.full((2, 8), 50.0, requires_grad=True)
v = torch.ones(8, 1, requires_grad=True)
for i in range(2):
    h = torch.tanh(torch.ones(3, 2) @ w)
    (h @ v).sum().backward()
"""),
    Case("symmetric_units", 6, {"name": "net.0.weight", "units": "3"}, """net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
for p in net.parameters():
    nn.init.constant_(p, 0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    F.mse_loss(net(torch.randn(4, 2)), torch.ones(4, 1)).backward()
    opt.step()
    opt.zero_grad()
"""),
    Case("symmetric_units", 4, {"name": "w1", "units": "4"}, """w1 = torch.zeros(3, 4, requires_grad=True)
w2 = torch.zeros(4, 1, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5, 1)
for i in range(2):
    loss = ((torch.sigmoid(x @ w1) @ w2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.1 * w.grad
            w.grad = None
"""),
    Case("flat_op", 5, {"op": "round", "leaf": "x"}, """x = torch.tensor([0.4, 1.6], requires_grad=True)
y = torch.round(x).sum()
y.backward()
"""),
    Case("flat_op", 6, {"op": "sign", "leaf": "w"}, """w = torch.randn(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w.sign() * b).sum()
loss.backward()
"""),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    ("step_without_zero_grad", TRAIN + "for i in range(3):\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"
     "    for p in model.parameters():\n        p.grad.zero_()\n"),
    ("step_without_zero_grad", TRAIN + LOOP),
    ("step_without_zero_grad", "import copy\n" + TRAIN + "late = copy.deepcopy(model)\nfor i in range(4):\n    opt.zero_grad()\n    F.mse_loss(model(x), y + 0.9 * late(x)).backward()\n"
     "    opt.step()\n    late.load_state_dict(model.state_dict())\n"),
    ("targets_too_far", "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\nnn.init.constant_(net[0].bias, -50.)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
     "x = torch.randn(8, 2)\nfor i in range(20):\n    loss = F.mse_loss(net(x), x[:, :1] * 30)\n    opt.zero_grad(); loss.backward(); opt.step()\n"),
    ("leaf_recreated", "x = torch.randn(3, requires_grad=True)\nJ = torch.autograd.functional.jacobian(lambda t: t ** 2, x)\n"),
    ("cut_by_no_grad", "net = nn.Sequential(torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), nn.ReLU())\nnet(torch.randn(5, 3)).sum().backward()\n"),
    ("cut_by_no_grad", "net = torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.randn(5, 3)).sum().backward()\nopt.step()\n"),
    ("cut_by_no_grad", "w = torch.ones(2, 2, requires_grad=True)\nwith torch.no_grad():\n    row = w[0]\n    scale = row.sum() * 2\n(w * scale).sum().backward()\n"),
    ("unused_parameters", "model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nmodel(torch.ones(3, 2)).sum().backward()\n"),
    ("leaf_recreated", "w = torch.tensor([0.5, 1.5], requires_grad=True)\nfor i in range(3):\n    (g,) = torch.autograd.grad(((w - 1) ** 2).sum(), w)\n"
     "    w = (w - 0.2 * g).detach().requires_grad_()\n(w ** 2).sum().backward()\n"),
    ("cut_by_integer", "w = torch.tensor([1., 2.], requires_grad=True)\nloss = w[w.argmax()] * 2 + (w * (w > 0)).sum()\nloss.backward()\n"),
    ("cut_by_integer", "teacher, model = nn.Linear(4, 3), nn.Linear(4, 3)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\nx = torch.randn(5, 4)\n"
     "F.cross_entropy(model(x), teacher(x).argmax(1)).backward()\nopt.step()\n"),
    ("cut_by_numpy", "w = torch.tensor([1., 2.], requires_grad=True)\nshown = w.detach().numpy()\nprint(shown)\n(w * 3).sum().backward()\n"),
    ("leaf_recreated", "w = torch.tensor([1., 2.], requires_grad=True)\nh = w * 2\nz = h.detach().requires_grad_()\n(z ** 2).sum().backward()\nh.backward(z.grad)\n"),
    ("cut_by_detach", "q, target = nn.Linear(4, 2), nn.Linear(4, 2)\nopt = torch.optim.SGD(q.parameters(), lr=0.1)\n"
     "goal = target(torch.randn(3, 4)).detach()\nF.mse_loss(q(torch.randn(3, 4)), goal).backward()\nopt.step()\n"),
    ("log_of_zero", "p = torch.tensor([0.5, 1e-9], requires_grad=True)\nloss = -(p * torch.log(p)).sum()\nloss.backward()\n"),
    ("log_of_zero", "x = torch.zeros(2, requires_grad=True)\ny = x.log1p()\ny.sum().backward()\n"),
    ("log_of_negative", "x = torch.tensor([-1., 1.], requires_grad=True)\ny = x.abs().log()\ny.sum().backward()\n"),
    ("root_of_negative", "x = torch.tensor(-8., requires_grad=True)\ny = x ** 3\ny.backward()\n"),
    ("division_by_zero", "x = torch.tensor([0., 1.], requires_grad=True)\ny = torch.exp(-1 / x.detach())\n(y * x).sum().backward()\n"),
    ("division_by_zero", "x = torch.tensor([0., 1.], requires_grad=True)\ny = 1 / (x + 1)\n(y * x).sum().backward()\n"),
    ("overflow", "x = torch.tensor([80., -900.], requires_grad=True)\ny = x.exp()\ny.sum().backward()\n"),
    ("overflow", "best = torch.full((3,), float('inf'))\nbest = torch.minimum(best, torch.ones(3)).exp()\n"),
    ("diverged", TRAIN + LOOP),
    ("softmax_of_masked_row", "m = torch.triu(torch.full((3, 3), float('-inf')), 1)\np = torch.softmax(torch.ones(3, 3) + m, 1)\n"),
    ("root_at_zero", "x = torch.zeros(2, requires_grad=True)\nd = torch.sqrt((x ** 2).sum() + 1e-8)\nd.backward()\n"),
    ("nan_behind_where", "x = torch.tensor([0.0, 4.0], requires_grad=True)\nsafe = torch.where(x > 0, x, torch.ones(2))\n"
     "torch.where(x > 0, safe.sqrt(), x).sum().backward()\n"),
    ("leaf_made_non_leaf", "w = (torch.randn(3) * 0.01).requires_grad_()\n(w ** 2).sum().backward()\nprint(w.grad)\n"),
    ("leaf_made_non_leaf", "w = torch.ones(2, requires_grad=True).float()\nw.sum().backward()\nprint(w.grad)\n"),
    ("grad_of_non_leaf", "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.retain_grad()\ny.sum().backward()\nprint(y.grad)\n"),
    ("grad_of_untracked", "w, b = torch.ones(2, requires_grad=True), torch.ones(2)\n(w * b).sum().backward()\nprint(w.grad, b.grad is None)\n"),
    ("grad_of_untracked", "class Box:\n    grad = 3\nb = Box()\nx = torch.ones(2, requires_grad=True)\n(x * b.grad).sum().backward()\nprint(b.grad)\n"),
    ("leaf_rebound", "w = torch.tensor([1.0, 2.0], requires_grad=True)\n(w ** 2).sum().backward()\nw = (w - 0.1 * w.grad).detach().requires_grad_()\n"),
    ("leaf_rebound", "w = torch.tensor([1.0, 2.0], requires_grad=True)\n(w ** 2).sum().backward()\nnew = w.detach() - 0.1 * w.grad\ng = 0.5 * w.grad\n"),
    ("parameter_made_in_forward", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = None\n"
     "    def forward(self, x):\n        if self.w is None:\n            self.w = nn.Parameter(torch.ones(2))\n        return x * self.w\n"
     "net = Net()\nnet(torch.ones(2)).sum().backward()\nnet(torch.ones(2)).sum().backward()\n"),
    ("modules_in_plain_list", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
     "        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]\n        self.net = nn.Sequential(*self.layers)\n"
     "    def forward(self, x):\n        return self.net(x)\nnet = Net()\nnet(torch.ones(3, 2)).sum().backward()\n"),
    ("modules_in_plain_list", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
     "        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 1)])\n        self.sizes = [1, 2]\n"
     "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
     "net = Net()\nnet(torch.ones(3, 2)).sum().backward()\n"),
    ("gradient_added_up", "G, D = nn.Linear(2, 3), nn.Linear(3, 1)\ng_opt, d_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (G, D))\nfor i in range(3):\n"
     "    fake = G(torch.randn(4, 2))\n    d_opt.zero_grad(); D(fake.detach()).mean().backward(); d_opt.step()\n    g_opt.zero_grad(); D(fake).mean().neg().backward(); g_opt.step()\n"),
    ("gradient_added_up", TRAIN + "for i in range(4):\n    (F.mse_loss(model(x), y) / 2).backward()\n    if (i + 1) % 2 == 0:\n        opt.step()\n        opt.zero_grad()\n"),
    ("zero_grad_before_step", TRAIN + "for i in range(3):\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    opt.step()\n    opt.zero_grad()\n"),
    ("zero_grad_before_step", TRAIN + "for i in range(4):\n    (F.mse_loss(model(x), y) / 2).backward()\n    if i % 2:\n        opt.step()\n        model.zero_grad()\n"),
    ("step_without_backward", TRAIN + LOOP),
    ("step_without_backward", "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nw.grad = torch.ones(2)\nopt.step()\n"),
    ("optimizer_holds_others", TRAIN.replace("opt =", "old =") + "model = nn.Linear(2, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n" + LOOP),
    ("not_in_optimizer", TRAIN.replace("model.parameters()", "model[2].parameters()") + LOOP),
    ("model_without_optimizer", PAIR + "opt = torch.optim.SGD([*decoder.parameters(), *encoder.parameters()], lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "encoder.eval()\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "import copy\nonline = copy.deepcopy(encoder)\nencoder.load_state_dict(online.state_dict())\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "encoder.requires_grad_(False)\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "other = torch.optim.SGD(encoder.parameters(), lr=0.1)\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n"
     + CODED + "    other.step()\n"),
    ("model_without_optimizer", PAIR + "z = torch.zeros(6, 2, requires_grad=True)\nopt = torch.optim.SGD([z], lr=0.1)\n"
     + CODED.replace("decoder(encoder(x))", "decoder(z)")),
    ("model_without_optimizer", PAIR + "opt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED
     + "    with torch.no_grad():\n        for p in (encoder.weight, encoder.bias):\n            p -= 0.1 * p.grad\n"),
    ("not_in_optimizer", TRAIN + "model[0].requires_grad_(False)\n" + LOOP),
    ("backward_without_step", "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n"
     "    opt.zero_grad()\n    (w ** 2).sum().backward()\n    if i == 5:\n        opt.step()\n"),
    # an argument of the same name as the optimizer
    # neither of them has a plain name
    ("setting_without_effect", """class Options: pass
lin, kept = nn.Linear(2, 1), {"a": Options()}
opts = [torch.optim.SGD(lin.parameters(), lr=0.1)]
kept["a"].lr = 0.1
lin(torch.ones(4, 2)).sum().backward()
opts[0].step()
"""),
    ("scheduled_per_batch", """lin, plans = nn.Linear(2, 1), {}
opts = [torch.optim.SGD(lin.parameters(), lr=0.1)]
plans["a"] = torch.optim.lr_scheduler.StepLR(opts[0], step_size=3)
for epoch in range(6):
    for i in range(4):
        opts[0].zero_grad()
        lin(torch.randn(4, 2)).pow(2).mean().backward()
        opts[0].step()
    for plan in plans.values():
        plan.step()
"""),
    ("setting_without_effect", "class Options: pass\ndef told(opt):\n    opt.lr = 0.1\n    return opt\ntold(Options())\n"
     + TRAIN + LOOP),
    ("method_not_called", TRAIN + LOOP + "step = opt.step\nstep()\n"),
    ("scheduler_before_step", TRAIN + "sched = torch.optim.lr_scheduler.StepLR(opt, 1)\n" + LOOP + "    sched.step()\n"),
    ("trained_in_eval", DROP + "for epoch in range(2):\n    model.train()\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n"
     "    loss.backward()\n    opt.step()\n    model.eval()\n    with torch.no_grad():\n        model(x)\n"),
    ("trained_in_eval", """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for stage in range(2):
    net.train()
    if stage:
        net.apply(lambda m: isinstance(m, nn.BatchNorm1d) and m.eval())
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""),
    ("trained_in_eval", """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net[2].parameters(), lr=0.1)
net.eval()  # tuned with the figures it has
for _ in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
net.train()
"""),
    ("trained_in_eval", DROP + LOOP + "model.eval()\nz = x.clone().requires_grad_()\nmodel(z).sum().backward()\nprint(z.grad)\n"),
    ("evaluated_in_train", DROP + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x).mean())\n"),
    ("evaluated_in_train", DROP + LOOP + "model.train()\nwith torch.no_grad():\n    draws = torch.stack([model(x) for _ in range(3)])\n"),
    ("evaluated_in_train", DROP + LOOP + "with torch.no_grad():\n    draws = torch.stack([model(x) for _ in range(3)])\n"
     "    print(F.mse_loss(draws.mean(0), y))\n"),
    ("evaluated_in_train", DROP + LOOP + "total = 0.0\nwith torch.no_grad():\n    for _ in range(3):\n        total += model(x)\n"),
    ("evaluated_in_train", DROP + "teacher = model\nfor i in range(2):\n    opt.zero_grad()\n    with torch.no_grad():\n        target = teacher(x)\n"
     "    F.mse_loss(model(x), target).backward()\n    opt.step()\n"),
    ("evaluated_with_grad", TRAIN + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x).mean().item())\n"),
    ("evaluated_with_grad", TRAIN + LOOP + "model.eval()\nz = x.clone().requires_grad_()\nmodel(z).sum().backward()\n"),
    ("switch_without_with", "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\ntorch.set_grad_enabled(True)\n"),
    ("switch_without_with", "@torch.no_grad()\ndef shown(x):\n    return x * 2\nguard = torch.no_grad()\nwith guard:\n    shown(torch.ones(2))\n"),
    ("loss_broadcast", "model = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\nF.mse_loss(model(x).squeeze(1), y).backward()\n"),
    ("difference_broadcast", "model = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\n((model(x)[:, 0] - y) ** 2).mean().backward()\n"),
    ("difference_broadcast", "z = torch.randn(4, requires_grad=True)\npairs = z.unsqueeze(1) - z\npairs.pow(2).mean().backward()\n"),
    ("difference_broadcast", "model = nn.Linear(2, 1)\nout = model(torch.randn(4, 2))\nloss = torch.relu(1 - (out - out.squeeze(1))).mean()\nloss.backward()\n"),
    ("softmax_before_cross_entropy", "z = torch.randn(4, 3, requires_grad=True)\nt = torch.tensor([0, 1, 2, 0])\nloss = F.cross_entropy(z, t)\n"
     "loss.backward()\nprint(torch.softmax(z, dim=1))\n"),
    ("sigmoid_before_logits_loss", "z = torch.randn(4, requires_grad=True)\ngate = torch.sigmoid(z) * z\nF.binary_cross_entropy_with_logits(gate, torch.ones(4)).backward()\n"),
    ("nll_without_log_softmax", "z = torch.randn(4, 3, requires_grad=True)\nF.nll_loss(F.log_softmax(z, dim=1), torch.tensor([0, 1, 2, 0])).backward()\n"),
    ("bce_without_sigmoid", "model = nn.Linear(2, 1)\nF.binary_cross_entropy(torch.sigmoid(model(torch.ones(4, 2))), torch.ones(4, 1)).backward()\n"),
    ("softmax_without_dim", "z = torch.randn(4, 3)\nprint(F.softmax(z, dim=-1), nn.Softmax(1)(z))\n"),
    ("number_wrapped", "a = torch.tensor([100, 27], dtype=torch.int8)\nb = a + 0\nc = a.int() * 100\n"),
    ("transpose_without_effect", "x = torch.ones(1, 3)\ny = x @ x.t()\n"),
    ("squeeze_without_effect", "for n in (1, 3):\n    y = torch.zeros(n, 2).squeeze(0)\n"),
    ("uninitialised_read", "e = torch.empty(3).uniform_()\nf = e + 1\nz = torch.zeros_like(torch.empty(2))\n"),
    ("uninitialised_read", "Y = torch.empty(2, 2)\nfor i in range(2):\n    for j in range(2):\n        Y[i, j] = i + j\nprint(Y.sum())\n"),
    ("uninitialised_print", "e = torch.empty(3)\nprint(e.shape)\ne.zero_()\nprint(e)\nf = torch.IntTensor([1, 2])\nprint(f)\n"),
    ("test_without_call", "check = torch.cuda.is_available\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\nprint(check())\n"),
    ("visible_devices_misspelt", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nx = torch.ones(2)\n"),
    ("visible_devices_too_late", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nprint(torch.cuda.is_available())\n"),
    ("losses_kept", "losses = []\n" + TRAIN + LOOP + "    losses.append(loss.item())\n"),
    ("losses_kept", "w = torch.ones(2, requires_grad=True)\nlosses = []\nfor i in range(3):\n    losses.append((w * i).sum())\ntorch.stack(losses).sum().backward()\n"),
    ("total_kept", "total = 0\n" + TRAIN + LOOP + "    total += loss.item()\n"),
    ("total_kept", "w = torch.ones(2, requires_grad=True)\ntotal = 0\nfor i in range(4):\n    loss = (w ** 2).sum()\n    total = total + loss\ntotal.backward()\n"),
    ("gradient_vanishes", "net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU())])\n"
     "net(torch.randn(4, 8)).sum().backward()\n"),
    ("gradient_explodes", "net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(10)])\nnet(torch.randn(4, 8)).sum().backward()\n"),
    ("dead_relu", "x = torch.tensor([-2.0, -1.0], requires_grad=True)\nF.relu(x).sum().backward()\n"),
    ("dead_relu", "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\nfor b in (-100.0, 100.0):\n"
     "    nn.init.constant_(net[0].bias, b)\n    net(torch.randn(4, 2)).sum().backward()\n"),
    ("saturated", "net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())\nnn.init.constant_(net[2].bias, 40.0)\nnet(torch.randn(4, 2)).sum().backward()\n"),
    ("symmetric_units", "W = torch.ones(2, 3, requires_grad=True)\ny = torch.ones(4, 2) @ W\ny.sum().backward()\nW.data -= 0.1 * W.grad\n"),
    ("symmetric_units", "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))\nnn.init.zeros_(net[2].weight)\nnn.init.zeros_(net[2].bias)\n"
     "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(2):\n    opt.zero_grad()\n    F.cross_entropy(net(torch.randn(4, 2)), torch.tensor([0, 1, 1, 0])).backward()\n    opt.step()\n"),
    ("flat_op", "x = torch.tensor([0.4, 1.6], requires_grad=True)\ny = (x + (x.round() - x).detach()).sum()\ny.backward()\n"),
    ("flat_op", "x = torch.tensor([0.4, 1.6], requires_grad=True)\ny = (x.round() + x).sum()\ny.backward()\n"),
)  # fmt: skip
