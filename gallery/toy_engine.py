import torch


class Number:
    def __init__(self, data, maker=None, tracked=True):
        self.data = data
        self.maker = maker
        self.tracked = tracked
        self.grad = 0.0

    def __sub__(self, other):
        return Sub()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __truediv__(self, other):
        return Div()(self, other)


class Rule:
    def __call__(self, *numbers):
        plain = [number.data for number in numbers]
        result = self.forward(*plain)
        self.needs = [number.tracked for number in numbers]
        self.before = [(number.maker, number) for number in numbers]
        return Number(result, maker=self, tracked=any(self.needs))


class Sub(Rule):
    def forward(self, a, b):
        return a - b

    def backward(self, g):
        return g, -g


class Mul(Rule):
    def forward(self, a, b):
        self.a, self.b = a, b
        return a * b

    def backward(self, g):
        return g * self.b, g * self.a


class Div(Rule):
    def forward(self, a, b):
        self.a, self.b = a, b
        return a / b

    def backward(self, g):
        return g / self.b, -g * self.a / self.b**2


def count_uses(last):
    uses, found = {last: 0}, [last]
    for rule in found:
        for maker, number in rule.before:
            if maker is None or not number.tracked:
                continue
            if maker not in uses:
                uses[maker] = 0
                found.append(maker)
            uses[maker] += 1
    return uses


def run_backward(root):
    uses = count_uses(root.maker)
    arrived = {root.maker: 1.0}
    ready = [root.maker]
    while ready:
        rule = ready.pop()
        waiting = [f"{type(each).__name__} for {count}" for each, count in uses.items() if count]
        print(type(rule).__name__, "runs; waiting:", ", ".join(waiting) or "none")
        gradients = rule.backward(arrived[rule])
        for (maker, number), needed, g in zip(rule.before, rule.needs, gradients, strict=True):
            if not needed:
                continue
            if maker is None:
                number.grad += g
                continue
            arrived[maker] = arrived.get(maker, 0.0) + g
            uses[maker] -= 1
            if uses[maker] == 0:
                ready.append(maker)


def formula(w, x, y):
    error = w * x - y
    return error * error / w


w, x, y = 2.0, 3.0, 4.0  # ~ w 1..5, x 1..5, y 1..5
toy = [Number(w), Number(x), Number(y)]
run_backward(formula(*toy))

real = w, x, y = [torch.tensor(each.data, dtype=torch.float64, requires_grad=True) for each in toy]
formula(*real).backward()  # ? y.grad
# ? w.grad

for name, mine, torchs in zip("wxy", toy, real, strict=True):
    print(name, mine.grad, torchs.grad.item())
    assert abs(mine.grad - torchs.grad.item()) < 1e-9
