"""The graph, backward, accumulation, what is not tracked, graphs that depend on data. Rows 50 to 94 of the curriculum."""

import pytest

from tests.curriculum.seen import Seen, same, words

pytestmark = pytest.mark.slow

MEAN = "x = torch.ones(2, 2, requires_grad=True)\ny = x + 2\nz = y * y * 3\nout = z.mean()\nout.backward()\n"


def test_050_each_line_adds_its_nodes() -> None:
    seen = Seen(MEAN)
    lines = [op.span.line for op in seen.trace.ops if op.nodes and op.span is not None]
    assert lines == [3, 4, 4, 5]


def test_051_only_floats_can_be_tracked() -> None:
    assert Seen("x = torch.ones(2, requires_grad=True)\n").tensor("x").requires_grad
    assert "only_floats_require_grad" in Seen("x = torch.tensor([1, 2], requires_grad=True)\n").told


def test_052_without_a_tracked_input_there_is_no_node() -> None:
    seen = Seen(
        "a = torch.ones(3, 2)\nb = (a * 3) / (a + 1)\nx = torch.ones(3, 2, requires_grad=True)\n(b * x).sum()\n"
    )
    assert not seen.tensor("b").requires_grad
    assert seen.tensor("b").grad_fn is None
    words("say.ghost.constant")


def test_053_054_results_have_a_grad_fn_and_form_a_graph() -> None:
    seen = Seen(MEAN)
    assert sorted(node.type for node in seen.trace.nodes) == [
        "AccumulateGrad",
        "AddBackward0",
        "MeanBackward0",
        "MulBackward0",
        "MulBackward0",
    ]
    assert seen.tensor("x").grad_fn is None
    assert [link.slot for link in seen.links_to("y * y")] == [0, 1]
    assert seen.box("x").kind == "leaf"


def test_055_a_computed_tensor_becomes_a_leaf() -> None:
    seen = Seen("a = torch.tensor([1.0, 2.0])\na = a * 3\na.requires_grad_(True)\nb = (a * a).sum()\nb.backward()\n")
    assert [box.name for box in seen.graph.boxes] == ["a", "a * a", "b"]
    assert same(seen.grad("a"), [6, 12])


POLYNOMIAL = (
    "a = torch.tensor(2.0, requires_grad=True)\nb = torch.tensor(6.0, requires_grad=True)\nQ = 3 * a ** 3 - b ** 2\n"
)


def test_056_next_functions_lead_on() -> None:
    seen = Seen(POLYNOMIAL)
    root = seen.node("SubBackward0")
    assert [seen.index.nodes[edge.to].type for edge in root.edges if edge.to] == ["MulBackward0", "PowBackward0"]
    words("field.grad_fn.next_functions")


def test_057_only_leaves_keep_their_grad() -> None:
    seen = Seen(
        "x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.retain_grad()\nb = a ** 2\n(b * 3).backward()\n"
    )
    assert same(seen.grad("a"), 36)
    assert seen.grad("b") is None
    asked = Seen("x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nprint(a.grad)\n")
    assert "grad_of_non_leaf" in asked.told


def test_058_first_the_numbers_then_the_node() -> None:
    seen = Seen(MEAN)
    op = seen.op("add")
    assert op.outputs
    assert seen.index.nodes[op.nodes[0]].type == "AddBackward0"
    words("attach.computed", "attach.made", "attach.untracked")


def test_059_each_node_has_its_rule() -> None:
    seen = Seen(
        "a = torch.tensor(5.0, requires_grad=True)\nb = torch.tensor(3.0, requires_grad=True)\n(a - b).backward()\n"
    )
    assert seen.node("SubBackward0").rule == "sub"
    assert same(seen.grad("a"), 1)
    assert same(seen.grad("b"), -1)


def test_060_nodes_save_what_they_need() -> None:
    seen = Seen("x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)\n(x.abs() + x.relu()).sum().backward()\n")
    assert same(seen.grad("x"), [-1, 0, 2])
    assert [saved.field for saved in seen.node("AbsBackward0").saved if saved.tensor] == ["self"]
    assert seen.node("ReluBackward0").saved[0].size_bytes == 12


def test_061_autograd_in_five_parts() -> None:
    words(*(f"help.part.{part}" for part in ("tensor", "graph", "gradient", "accumulation", "untracked")))


def test_062_tracking_costs_memory() -> None:
    net = "net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))\nx = torch.ones(5, 4)\n"
    tracked, free = Seen(net + "y = net(x)\n"), Seen(net + "with torch.no_grad():\n    y = net(x)\n")
    assert max(point.activations for point in tracked.trace.memory) > 0
    assert max(point.activations for point in free.trace.memory) == 0


def test_063_constants_are_no_nodes() -> None:
    seen = Seen(MEAN)
    assert seen.box("z").constants == ("3",)
    assert [edge.to for edge in seen.node("AddBackward0").edges][1] is None


def test_064_065_the_one_that_enters_and_the_numbers_on_the_way() -> None:
    seen = Seen(MEAN)
    assert [seen.received(name).ravel()[0] for name in ("out", "z", "y * y", "y")] == [1, 0.25, 0.75, 4.5]
    assert same(seen.grad("x"), [[4.5, 4.5], [4.5, 4.5]])
    (root,) = seen.trace.passes[0].roots
    assert root.implicit


def test_066_a_vector_needs_a_vector() -> None:
    code = "x = torch.tensor([0.5, 1.0, -1.5], requires_grad=True)\ny = x * 2\n"
    seen = Seen(code + "y.backward(torch.tensor([0.1, 1.0, 0.0001]))\n")
    assert same(seen.grad("x"), [0.2, 2.0, 0.0002])
    (root,) = seen.trace.passes[0].roots
    assert not root.implicit
    assert "non_scalar_backward" in Seen(code + "y.backward()\n").told


CURVED = (
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    "y = torch.stack([x[0] ** 2 + x[1], x[1] ** 2 + x[2], x.sum()])\n"
)


def test_067_068_a_row_of_the_jacobian_at_a_time() -> None:
    seen = Seen(CURVED + "v = torch.tensor([1.0, 0.5, 2.0])\ny.backward(v)\n", checks=("jacobian",))
    jacobian = next(jacobian for jacobian in seen.trace.jacobians if jacobian.node is None)
    assert [float(number) for number in jacobian.values] == [2, 1, 0, 0, 4, 1, 1, 1, 1]
    assert same(seen.grad("x"), [4, 5, 2.5])
    scalar = Seen(CURVED + "l = (torch.tensor([1.0, 0.5, 2.0]) * y).sum()\nl.backward()\n")
    assert same(scalar.grad("x"), [4, 5, 2.5])


def test_069_slopes_are_multiplied_along_the_way() -> None:
    seen = Seen("u = torch.tensor(0.5, requires_grad=True)\ng = u ** 2\nh = torch.sin(g)\nh.backward()\n")
    assert same(seen.received("g"), 0.968912)
    assert same(seen.grad("u"), 0.968912)


def test_070_each_input_has_its_own_result() -> None:
    seen = Seen(
        "a = torch.tensor(6.0, requires_grad=True)\nb = torch.tensor(2.0, requires_grad=True)\n(a / b).backward()\n"
    )
    visit = next(v for v in seen.trace.passes[0].visits if v.node == seen.node("DivBackward0").id)
    assert len(visit.left) == 2
    assert same(seen.grad("a"), 0.5)
    assert same(seen.grad("b"), -1.5)
    product = Seen(
        "a = torch.tensor(6.0, requires_grad=True)\nb = torch.tensor(2.0, requires_grad=True)\n(a * b).backward()\n"
    )
    assert same(product.grad("a"), 2)
    assert same(product.grad("b"), 6)


def test_071_two_ways_to_call_backward() -> None:
    seen = Seen(
        "x = torch.tensor(2.0, requires_grad=True)\ntorch.autograd.backward(x * 3)\n(x * 3).backward()\n"
        "(g,) = torch.autograd.grad(x * 3, x)\n"
    )
    assert [walk.kind for walk in seen.trace.passes] == ["backward", "backward", "grad"]
    assert seen.grad("x") == 6


def test_072_leaves_get_a_grad() -> None:
    seen = Seen(
        "x1 = torch.tensor(1.0, requires_grad=True)\nx2 = torch.tensor(2.0, requires_grad=True)\ny = x1 + 2 * x2\ny.backward()\n"
    )
    assert same(seen.grad("x1"), 1)
    assert same(seen.grad("x2"), 2)
    assert seen.grad("y") is None
    assert seen.tensor("y").grad_fn is not None


def test_073_ways_into_one_tensor_add_up() -> None:
    seen = Seen("x = torch.arange(5.0, requires_grad=True)\ny = x - x.mean()\ny[0].backward()\n")
    (total,) = [sum_ for visit in seen.trace.passes[0].visits for sum_ in visit.sums]
    terms = [float((seen.index.tensors[term.tensor].data or (0,))[0]) for term in total.terms]
    assert sorted(terms) == pytest.approx([-0.2, 1])
    assert same(seen.grad("x"), [0.8, -0.2, -0.2, -0.2, -0.2])


def test_074_a_branch_is_remembered() -> None:
    seen = Seen(
        "x = torch.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)\n"
        "torch.nn.functional.max_pool2d(x[None, None], 2).sum().backward()\n"
    )
    assert same(seen.grad("x"), [[0, 1], [0, 0]])


def test_075_a_derivative_of_a_derivative() -> None:
    seen = Seen(
        "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n"
        "(first,) = torch.autograd.grad(y, x, create_graph=True)\n(second,) = torch.autograd.grad(first, x, create_graph=True)\n"
        "(third,) = torch.autograd.grad(second, x)\n"
    )
    assert [seen.value(name).item() for name in ("y", "first", "second", "third")] == [8, 12, 12, 6]
    assert any(group.kind == "layer" for group in seen.graph.groups)
    assert any(node.made_by for node in seen.trace.nodes)


def test_076_gradients_are_added() -> None:
    seen = Seen(MEAN + "x.sum().backward()\n")
    after = [walk.accumulations[0] for walk in seen.trace.passes]
    assert after[0].before is None
    assert after[1].before == after[0].after
    assert same(seen.grad("x"), [[5.5, 5.5], [5.5, 5.5]])


def test_077_the_same_lines_twice_double_it() -> None:
    code = "x1 = torch.tensor(1.0, requires_grad=True)\nx2 = torch.tensor(2.0, requires_grad=True)\n"
    seen = Seen(code + "for run in range(3):\n    y = x1 + 2 * x2\n    y.backward()\n")
    assert [state.item() for state in seen.states("x1.grad")] == [1, 2, 3]
    assert "gradient_added_up" in Seen(code + "y = x1 + 2 * x2\ny.backward()\ny = x1 + 2 * x2\ny.backward()\n").told
    words("run.hint")


def test_078_data_zero_resets_a_grad() -> None:
    seen = Seen(MEAN + "x.grad.data.zero_()\n(x * 1).sum().backward()\n")
    assert seen.update("grad_reset").changes[-1].name == "x.grad"
    assert same(seen.grad("x"), [[1, 1], [1, 1]])


def test_079_zero_grad_leaves_none() -> None:
    seen = Seen(
        "w = torch.tensor(1.0, requires_grad=True)\no = torch.optim.SGD([w], lr=0.1)\n(w * w).backward()\no.zero_grad()\n"
    )
    assert seen.update("zero_grad").set_to_none
    assert seen.grad("w") is None


def test_080_several_roots_over_one_leaf() -> None:
    seen = Seen(MEAN + "out2 = x.sum()\nout2.backward()\nout3 = x.sum()\nout3.backward()\n")
    assert [root.name for root in seen.graph.roots] == ["out", "out2", "out3"]
    assert same(seen.grad("x"), [[6.5, 6.5], [6.5, 6.5]])


def test_081_the_same_graph_twice() -> None:
    code = "x = torch.tensor(3.0, requires_grad=True)\ny = 2 * x ** 3\n"
    failed = Seen(code + "y.backward()\ny.backward()\n")
    assert "second_backward" in failed.told
    kept = Seen(code + "y.backward(retain_graph=True)\ny.backward()\n")
    assert [state.item() for state in kept.states("x.grad")] == [54, 108]


def test_082_no_grad_computes_and_does_not_record() -> None:
    seen = Seen(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nprint((x ** 2).requires_grad)\n"
        "with torch.no_grad():\n    print((x ** 2).requires_grad, x.requires_grad)\n"
    )
    assert seen.printed == "True\nFalse True\n"
    assert [(box.kind, box.title) for box in seen.graph.boxes] == [("leaf", "leaf"), ("op", "PowBackward0")]
    assert [op.grad_mode for op in seen.trace.ops if op.name == "pow"] == ["grad", "no_grad"]


def test_083_detach_cuts_a_path() -> None:
    seen = Seen("x = torch.tensor(3.0, requires_grad=True)\ny = x ** 2\nz = y.detach() * x\nz.backward()\n")
    assert seen.grad("x") == 9
    assert "detach" in [link.reason for link in seen.graph.links if link.kind == "cut"]


DATA = "x = torch.ones(1, requires_grad=True)\ny = 2 * x\nx.data *= 100\ny.backward()\n"


def test_084_085_data_is_behind_autograds_back() -> None:
    seen = Seen(DATA + "plain = x.data\n")
    assert same(seen.value("x"), [100])
    assert same(seen.grad("x"), [2])
    change = seen.update("data").changes[-1]
    before, after = (seen.index.tensors[state or ""] for state in (change.before, change.after))
    assert (before.data, after.data, after.version - before.version) == ((1.0,), (100.0,), 0)
    assert not seen.tensor("plain").requires_grad
    assert {"x", "plain"} <= seen.memory_of("x")


def test_086_a_saved_value_was_edited() -> None:
    seen = Seen("x = torch.tensor(1.0, requires_grad=True)\ny = x ** 2\nx.data += 24\ny.backward()\n")
    assert seen.grad("x") == 50
    assert "saved_value_edited" in seen.told
    caught = Seen(
        "x = torch.tensor(1.0, requires_grad=True)\nw = x * 1\ny = w ** 2\nw.detach().add_(24)\ny.backward()\n"
    )
    assert "saved_tensor_changed" in caught.told


def test_087_evaluation_leaves_no_nodes() -> None:
    seen = Seen(
        "net = torch.nn.Linear(2, 1)\nx = torch.ones(4, 2)\nnet.eval()\nwith torch.no_grad():\n"
        "    right = (net(x) > 0).float().mean().item()\n"
    )
    assert seen.trace.nodes == ()
    assert seen.variable("right").type == "float"


def test_088_a_leaf_is_not_written_in_place() -> None:
    seen = Seen("x = torch.ones(2, requires_grad=True)\nx.add_(1)\n")
    assert seen.trace.failure is not None
    assert "leaf_in_place" in seen.told


LOOP = "y = x * 2\nwhile y.data.norm() < 1000:\n    y = y * 2\ny.backward(torch.tensor([0.1, 1.0, 0.0001]))\n"


def test_089_090_data_decides_how_deep_the_graph_is() -> None:
    first = Seen("x = torch.tensor([0.5, 1.0, -0.5], requires_grad=True)\n" + LOOP)
    other = Seen("x = torch.tensor([5.0, 10.0, -5.0], requires_grad=True)\n" + LOOP)
    assert (first.types().count("MulBackward0"), other.types().count("MulBackward0")) == (10, 7)
    loop = next(group for group in first.graph.groups if group.kind == "loop")
    assert loop.repeat == 9


def test_091_static_and_dynamic_graphs() -> None:
    words("kinds.static.text", "kinds.dynamic.text", "kinds.branch")


def test_092_every_node_has_a_line() -> None:
    seen = Seen(MEAN)
    assert all(box.span is not None for box in seen.graph.boxes)


def test_093_a_branch_not_taken_has_no_node() -> None:
    code = "if x.sum() > 0:\n    y = (x * 2).sum()\nelse:\n    y = x.exp().prod()\ny.backward()\n"
    seen = Seen("x = torch.tensor([1.0, 2.0], requires_grad=True)\n" + code)
    assert "ExpBackward0" not in seen.types()
    assert seen.trace.lines_not_run == (6,)


def test_094_a_loop_without_end_is_stopped() -> None:
    seen = Seen("x = torch.zeros(3, requires_grad=True)\ny = x * 2\nwhile y.norm() < 1000:\n    y = y * 2\n", wall_s=2)
    assert seen.trace.status == "limited"
    assert seen.types().count("MulBackward0") > 10
    words("limit.wall_s", "state.limited_time")
