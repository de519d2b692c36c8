"""A function of PyTorch's that the program replaced by its own runs as often as without recording."""

from engine.trace import Trace
from tests.engine.worker.forked import record

HEAD = "import torch\nimport torch.nn.functional as F\nx = torch.tensor([1.0, -2.0], requires_grad=True)\n"


def _printed(code: str) -> tuple[Trace, str]:
    trace = record(HEAD + code)
    assert trace.failure is None, trace.failure.traceback
    return trace, "".join(piece.text for piece in trace.output)


def test_another_repr_is_not_printed_twice() -> None:
    _, said = _printed(
        "old = torch.Tensor.__repr__\n"
        "torch.Tensor.__repr__ = lambda self: f'{tuple(self.shape)} {old(self)}'\n"
        "print(repr(x))\n"
    )
    assert said == "(2,) tensor([ 1., -2.], requires_grad=True)\n"


def test_a_method_is_called_once_and_recorded_as_itself() -> None:
    trace, said = _printed(
        "old = torch.Tensor.sum\n"
        "def mine(self, *args, **kwargs):\n"
        "    print('sum')\n"
        "    return old(self, *args, **kwargs) * 2\n"
        "torch.Tensor.sum = mine\n"
        "for _ in range(3): y = x.sum()\n"
        "y.backward()\n"
        "torch.Tensor.sum = old\n"
        "print(x.grad.tolist())\n"
    )
    assert said == "sum\n" * 3 + "[2.0, 2.0]\n"
    assert [op.name for op in trace.ops if op.nodes] == ["sum", "mul"] * 3


def test_backward_and_functions_too() -> None:
    trace, said = _printed(
        "old = torch.Tensor.backward\n"
        "torch.Tensor.backward = lambda self, *a, **k: (print('backward'), old(self, *a, **k))[1]\n"
        "relu = F.relu\n"
        "F.relu = lambda t, inplace=False: relu(t, inplace) * 3\n"
        "torch.nn.ReLU()(x).sum().backward()\n"
        "print(x.grad.tolist())\n"
    )
    assert said == "backward\n[3.0, 0.0]\n"
    assert len(trace.passes) == 1


def test_a_function_with_a_protocol_of_its_own_is_the_programs() -> None:
    _, said = _printed(
        "from torch.overrides import handle_torch_function, has_torch_function\n"
        "def twice(t):\n"
        "    if has_torch_function((t,)): return handle_torch_function(twice, (t,), t)\n"
        "    print('twice')\n"
        "    return t * 2\n"
        "torch.Tensor.twice = twice\n"
        "print(x.twice().tolist())\n"
    )
    assert said == "twice\n[2.0, -4.0]\n"
