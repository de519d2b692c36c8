class Value:
    def __init__(self, data, creator=None):
        self.data, self.creator, self.grad = data, creator, 0.0

    def __sub__(self, other):
        return Sub()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

class Function:
    def __call__(self, *inputs):
        self.inputs = inputs
        return Value(self.forward(*(i.data for i in inputs)), self)

class Sub(Function):
    def forward(self, a, b):
        return a - b

    def backward(self, g):
        return g, -g

class Mul(Function):
    def forward(self, a, b):
        return a * b

    def backward(self, g):
        a, b = self.inputs
        return g * b.data, g * a.data

def run_backward(root):
    waiting = [(root, 1.0)]
    order = []
    while waiting:
        value, grad = waiting.pop()
        value.grad += grad
        if value.creator:
            order.append(type(value.creator).__name__)
            waiting += zip(value.creator.inputs, value.creator.backward(grad))
    return order

w, x, y = Value(3.0), Value(2.0), Value(-5.0)
out = (w * x - y) * w
print(out.data, run_backward(out), w.grad, x.grad, y.grad)
