"""Programs as a person would write them, and what the trace says of them."""

import msgspec

from engine.limits import DEFAULT_LIMITS
from engine.trace import Span, Trace
from tests.engine.worker.forked import record

CLASSIC = """import torch
x = torch.ones(2, 2, requires_grad=True)
out = ((x + 2) ** 2 * 3).mean()
out.backward()
print(x.grad[0, 0].item())
"""


def _named(trace: Trace, name: str) -> tuple[float | int | str | bool, ...] | None:
    variable = next(variable for variable in trace.variables if variable.name == name)
    return next(tensor.data for tensor in trace.tensors if tensor.id == variable.tensor)


def test_ops_have_the_exact_sub_expression() -> None:
    trace = record(CLASSIC)
    add = next(op for op in trace.ops if op.name == "add")
    assert add.span == Span(line=3, end_line=3, column=8, end_column=13)


def test_columns_are_code_points() -> None:
    trace = record("import torch\n权重 = torch.ones(2); 和 = 权重 + 权重\n")
    add = next(op for op in trace.ops if op.name == "add")
    assert add.span is not None
    assert (add.span.column, add.span.end_column) == (24, 31)


def test_a_gradient_that_arrives_alone_is_one_record() -> None:
    (one,) = record(CLASSIC).passes
    for before, after in zip(one.visits, one.visits[1:], strict=False):
        assert before.left[0] == after.entered[0]


def test_the_leaf_ends_with_its_gradient() -> None:
    trace = record(CLASSIC)
    x = next(tensor for tensor in trace.tensors if "x" in tensor.names)
    assert next(tensor.data for tensor in trace.tensors if tensor.id == x.grad) == (4.5, 4.5, 4.5, 4.5)


def test_everything_before_a_failure_is_kept() -> None:
    trace = record("import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n")
    assert trace.status == "failed"
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.span and trace.failure.span.line) == ("RuntimeError", 4)
    assert "engine/worker" not in trace.failure.traceback
    assert [op.name for op in trace.ops] == ["ones", "mul"]


def test_the_node_that_failed_is_named() -> None:
    trace = record(
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\nz = y * 1\ny.add_(1)\nz.sum().backward()\n"
    )
    (failed,) = trace.passes
    types = {node.id: node.type for node in trace.nodes}
    assert types[failed.failed_node or ""] == "ExpBackward0"


def test_a_data_edit_is_an_update_of_the_leaf() -> None:
    trace = record("import torch\nx = torch.ones(1, requires_grad=True)\ny = 2 * x\nx.data *= 100\ny.backward()\n")
    (update,) = [update for update in trace.updates if update.kind == "data"]
    after = {tensor.id: tensor for tensor in trace.tensors}
    assert any(change.name == "x" and after[change.after or ""].data == (100.0,) for change in update.changes)


def test_uninitialised_memory_is_not_shown() -> None:
    trace = record("import torch\nx = torch.empty(3)\nw = torch.nn.Parameter(torch.empty(2))\nw * 2\n")
    (x,) = [tensor for tensor in trace.tensors if "x" in tensor.names]
    (w,) = [tensor for tensor in trace.tensors if "w" in tensor.names]
    assert (x.contents, x.data, w.contents, w.data) == ("uninitialised", None, "uninitialised", None)


def test_node_metadata_stays_the_users() -> None:
    trace = record("import torch\ny = torch.ones(1, requires_grad=True) * 2\nprint(y.grad_fn.metadata)\n")
    assert trace.output[0].text == "{}\n"


def test_a_warning_has_the_users_line_and_comes_once() -> None:
    code = "import torch\nfor _ in range(3):\n    torch.nn.functional.mse_loss(torch.ones(3), torch.ones(3, 1))\n"
    trace = record(code)
    assert [(warning.category, warning.span and warning.span.line) for warning in trace.warnings] == [
        ("UserWarning", 3)
    ]
    assert trace.output == ()
    assert [step.kind for step in trace.timeline].count("warning") == 1


def test_a_warning_has_the_line_that_stacklevel_names() -> None:
    trace = record("import warnings\ndef f():\n    warnings.warn('old', stacklevel=2)\nf()\n")
    assert [warning.span and warning.span.line for warning in trace.warnings] == [4]


def test_a_program_nested_too_deeply_fails() -> None:
    trace = record("x = " + "1+" * 45_000 + "1\n")
    assert trace.failure is not None
    assert (trace.status, trace.failure.kind, trace.failure.type) == ("failed", "syntax", "RecursionError")
    assert not trace.output


def test_half_of_a_surrogate_pair_does_not_hide_a_failure() -> None:
    trace = record("raise ValueError('\\udc80 bad')\n")
    assert trace.failure is not None
    assert (trace.status, trace.failure.message) == ("failed", "\\udc80 bad")


def test_stdout_refuses_half_of_a_surrogate_pair() -> None:
    trace = record("import sys\nprint('\\ud800', file=sys.stderr)\nprint('\\ud800')\n")
    assert "".join(output.text for output in trace.output if output.stream == "stderr") == "\\ud800\n"
    assert trace.failure is not None and trace.failure.span is not None
    assert (trace.failure.type, trace.failure.span.line) == ("UnicodeEncodeError", 3)


def test_a_repr_that_exits_hides_nothing() -> None:
    trace = record("class A:\n    def __repr__(self):\n        raise SystemExit\na = A()\nb = 2\n1 / 0\n")
    assert {variable.name: variable.text for variable in trace.variables if variable.name != "A"} == {
        "a": "<A>",
        "b": "2",
    }
    assert trace.failure is not None and trace.failure.type == "ZeroDivisionError"


def test_an_endless_loop_says_its_line_when_the_time_is_over() -> None:
    trace = record("x = 0\nwhile True:\n    x += 1\n", msgspec.structs.replace(DEFAULT_LIMITS, wall_s=0.3))
    assert trace.failure is not None and trace.failure.span is not None
    assert (trace.status, trace.failure.limit, trace.failure.span.line) in (
        ("limited", "wall_s", 2),
        ("limited", "wall_s", 3),
    )


def test_ops_beyond_the_limit_are_counted() -> None:
    trace = record(
        "import torch\nx = torch.ones(1)\nfor _ in range(20):\n    x = x + 1\n",
        msgspec.structs.replace(DEFAULT_LIMITS, ops=5),
    )
    assert [(cut.what, cut.kept, cut.omitted) for cut in trace.truncated] == [("ops", 5, 16)]
    assert _named(trace, "x") == (21.0,)


def test_loader_workers_are_replaced_and_said() -> None:
    trace = record(
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "print([b.tolist() for b in DataLoader(torch.arange(4), batch_size=2, num_workers=2)])\n"
    )
    assert trace.output[0].text == "[[0, 1], [2, 3]]\n"
    assert "workers_replaced" in [finding.code for finding in trace.findings]


def test_what_is_to_be_compiled_runs_as_it_is_written_and_that_is_said() -> None:
    trace = record(
        "import torch\n@torch.compile\ndef twice(x):\n    return x * 2\nprint(twice(torch.ones(1)).item())\n"
    )
    assert trace.output[0].text == "2.0\n"
    assert [(finding.code, finding.severity) for finding in trace.findings] == [("compile_eager", "note")]


def test_a_module_to_be_compiled_is_in_what_pytorch_puts_around_it() -> None:
    trace = record(
        "import torch\nnet = torch.nn.Linear(2, 1)\nheld = torch.compile(net)\nplain = torch.compile(net, disable=True)\n"
        "held(torch.ones(2)).backward()\nheld.size = 3\nheld.eval()\n"
        "print(*held.state_dict(), net.training, net.size, net.weight.grad.tolist(), plain is net)\n"
    )
    assert trace.output[0].text == "_orig_mod.weight _orig_mod.bias False 3 [[1.0, 1.0]] True\n"


def test_zeros_without_memory_are_zeros() -> None:
    trace = record(
        "import torch\nimport torch.autograd.forward_ad as fwAD\nx = torch.ones(1, 2)\n"
        "with fwAD.dual_level():\n"
        "    y = torch.cat([fwAD.make_dual(x, x), torch.zeros(1, 2)])\n"
        "    zeros, many = torch._efficientzerotensor(3), torch._efficientzerotensor(30, 30)\n"
        "    z = zeros * 2\n"
    )
    many = next(tensor for tensor in reversed(trace.tensors) if "many" in tensor.names)
    assert (_named(trace, "zeros"), many.summary and many.summary.zeros) == ((0.0, 0.0, 0.0), 900)


def test_memory_given_back_is_not_read() -> None:
    trace = record(
        "import torch\nx = torch.ones(4)\ny = torch.ones(1000)\n"
        "x.untyped_storage().resize_(0)\ny.untyped_storage().resize_(0)\n"
    )
    last = {name: tensor for tensor in trace.tensors for name in tensor.names}
    assert [(last[name].contents, last[name].data, last[name].summary) for name in "xy"] == [
        ("unreadable", None, None)
    ] * 2


def test_tracing_with_fake_tensors_warns_of_nothing() -> None:
    trace = record(
        "import torch\nx = torch.ones(3)\n"
        "y, push = torch.func.linearize(torch.sin, x)\nprint(push(x).tolist() == torch.cos(x).tolist())\n"
    )
    assert trace.output[-1].text == "True\n"
    assert not [one for one in (*trace.output, *trace.warnings) if "FakeTensor" in str(one)]


def test_a_parameter_filled_by_an_op_beyond_the_limit_is_known() -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, ops=2)
    code = "import torch\nm = torch.nn.Linear(2, 2)\n"
    trace = record(code, limits)
    last = {name: tensor for tensor in trace.tensors for name in tensor.names}
    assert trace.truncated
    assert [last[name].contents for name in ("m.weight", "m.bias")] == ["known", "known"]


def test_texts_hold_nothing_that_differs_from_run_to_run() -> None:
    code = "import threading\nwork = threading.Thread(name='work', daemon=True)\nwork.start()\nwork.join()\nplace = [object()]\n"
    texts = {variable.name: variable.text for variable in record(code).variables}
    assert texts["work"] == "<Thread(work, stopped daemon)>"
    assert texts["place"] == "[<object object at 0x0>]"


def test_what_a_message_tells_a_terminal_is_left_out() -> None:
    trace = record("raise ValueError('\\x1b[1mfirst\\x1b[0m, then [2m]')\n")
    assert trace.failure is not None
    assert trace.failure.message == "first, then [2m]"
    assert "\x1b" not in trace.failure.traceback
