"""The graph to draw says what autograd did, at each level, and says why a gradient stops."""

import itertools
import time

import pytest
from msgspec.structs import replace

from engine.graph import Box, Graph, Level, NoSuchChoice, pass_at, view
from engine.ops import family_of
from engine.trace import Broadcast, Edge, Node, OutputOf, Span, Step, Visit
from tests.engine.traces import Tape


def box(graph: Graph, title: str, name: str | None = None) -> Box:
    return next(one for one in graph.boxes if one.title == title and name in (None, one.name))


def ends(graph: Graph) -> list[tuple[str, str, str]]:
    titles = {one.id: one.name or one.title for one in graph.boxes}
    return [(titles[link.source], titles[link.target], link.kind) for link in graph.links]


def square() -> Tape:
    tape = Tape("x = torch.ones(2, 2, requires_grad=True)\ny = x + 2\nz = y * y * 3\nout = z.mean()\nout.backward()\n")
    x = tape.leaf("x", shape=(2, 2), data=[1.0] * 4)
    y = tape.op("add", x, out="y", text="x + 2", numbers=["2"], shape=(2, 2))
    squared = tape.op("mul", y, y, text="y * y", shape=(2, 2))
    z = tape.op("mul", squared, out="z", text="y * y * 3", numbers=["3"], shape=(2, 2))
    out = tape.op("mean", z, out="out", text="z.mean()")
    tape.backward(out, text="out.backward()")
    return tape


def test_each_node_is_a_box_with_type_and_name() -> None:
    graph = view(square().trace())
    assert [(one.title, one.name) for one in graph.boxes] == [
        ("leaf", "x"),
        ("AddBackward0", "y"),
        ("MulBackward0", "y * y"),
        ("MulBackward0", "z"),
        ("MeanBackward0", "out"),
    ]
    assert [one.family for one in graph.boxes] == ["leaf", "add", "mul", "mul", "mean"]
    assert [one.order for one in graph.boxes] == [0, 1, 2, 3, 4]
    assert all(one.tensor is not None for one in graph.boxes)


def test_parallel_edges_are_two_links_with_slot_names() -> None:
    links = [link for link in view(square().trace()).links if link.label]
    assert [(link.slot, link.label) for link in links] == [(0, "self"), (1, "other")]
    assert links[0].source == links[1].source
    assert links[0].node == links[1].node == links[0].target


def test_numbers_are_constants_and_missing_edges_are_no_links() -> None:
    graph = view(square().trace())
    assert box(graph, "AddBackward0").constants == ("2",)
    assert box(graph, "MulBackward0", "z").constants == ("3",)
    assert len(graph.links) == 5


def test_axes_are_not_constants() -> None:
    tape = Tape()
    x = tape.leaf("x", shape=(2, 3))
    tape.op("sum", x, numbers=["1"], shape=(2,), out="y")
    assert box(view(tape.trace()), "SumBackward0").constants == ()


@pytest.mark.parametrize("level", ["autograd", "forward", "both"])
def test_every_level_keeps_forward_order(level: Level) -> None:
    graph = view(square().trace(), level=level)
    assert graph.level == level
    assert [one.order for one in graph.boxes] == list(range(5))
    order = {one.id: one.order for one in graph.boxes}
    assert all(order[link.source] < order[link.target] for link in graph.links)


def test_forward_boxes_are_ops_and_links_know_the_slot() -> None:
    tape = square()
    graph = view(tape.trace(), level="forward")
    assert [one.title for one in graph.boxes] == ["leaf", "add", "mul", "mul", "mean"]
    assert [(link.node, link.slot) for link in graph.links] == [
        ("n2", 0),
        ("n3", 0),
        ("n3", 1),
        ("n4", 0),
        ("n5", 0),
    ]
    assert [link.label for link in graph.links] == ["", "self", "other", "", ""]


def cut_by_detach() -> Tape:
    tape = Tape("h = w * x\ns = h.detach().sum()\nloss = (s + b) ** 2\nloss.backward()\n")
    w = tape.leaf("w", shape=(3,))
    b = tape.leaf("b")
    x = tape.tensor("x", shape=(3,), data=[0.5, -1.0, 2.0])
    h = tape.op("mul", w, x, out="h", text="w * x", shape=(3,))
    cut = tape.op("detach", h, text="h.detach()", records=False, shape=(3,))
    s = tape.op("sum", cut, out="s", text="h.detach().sum()")
    added = tape.op("add", s, b, text="s + b")
    loss = tape.op("pow", added, out="loss", text="(s + b) ** 2", numbers=["2"])
    tape.backward(loss, text="loss.backward()")
    return tape


def test_a_detach_is_a_cut_with_ghosts_behind_it() -> None:
    graph = view(cut_by_detach().trace())
    assert ends(graph) == [
        ("w", "h", "data"),
        ("h", "detach", "cut"),
        ("detach", "s", "ghost"),
        ("b", "s + b", "data"),
        ("s", "s + b", "ghost"),
        ("s + b", "loss", "data"),
    ]
    cut = next(link for link in graph.links if link.kind == "cut")
    assert cut.reason == "detach"
    assert cut.span == Span(line=2, end_line=2, column=4, end_column=14)
    assert [(one.title, one.reason) for one in graph.boxes if one.reason] == [
        ("leaf", "unreached"),
        ("MulBackward0", "unreached"),
        ("detach", "detach"),
        ("sum", "untracked"),
    ]
    assert box(graph, "MulBackward0").constants == ("x",)
    assert box(graph, "MulBackward0").constant_tensors == ("t3",)


def test_level_autograd_shows_nodes_only() -> None:
    graph = view(cut_by_detach().trace(), level="autograd")
    assert [one.title for one in graph.boxes] == ["leaf", "AddBackward0", "PowBackward0"]
    assert all(link.kind == "data" for link in graph.links)


def test_no_grad_work_that_got_a_name_is_a_cut() -> None:
    tape = Tape("y = x * 2\nwith torch.no_grad():\n    z = x * 3\ny.backward()\n")
    x = tape.leaf("x")
    y = tape.op("mul", x, out="y", text="x * 2", numbers=["2"])
    tape.op("mul", x, out="z", text="x * 3", numbers=["3"], records=False, grad_mode="no_grad")
    tape.op("norm", x, text="x", records=False, grad_mode="no_grad")
    tape.backward(y)
    graph = view(tape.trace())
    assert ends(graph) == [("x", "y", "data"), ("x", "z", "cut")]
    assert graph.links[1].reason == "no_grad"


def test_updates_by_hand_are_not_part_of_the_graph() -> None:
    tape = Tape()
    w = tape.leaf("w")
    first = tape.op("mul", w, out="loss", numbers=["2"])
    tape.backward(first)
    grad = tape.tensor(role="gradient")
    step = tape.op("mul", grad, records=False, grad_mode="no_grad", numbers=["0.1"])
    tape.op("sub_", w, step, out="w", records=False, grad_mode="no_grad", in_place="w", identity=w)
    tape.tensors[-1] = replace(tape.tensors[-1], requires_grad=True)
    second = tape.op("mul", tape.tensors[-1].id, out="loss", numbers=["2"])
    tape.backward(second)
    graph = view(tape.trace())
    assert [one.title for one in graph.boxes] == ["leaf", "MulBackward0"]
    assert graph.boxes[0].tensor == "t6"


def test_above_a_ghost_stand_neither_recorded_ops_nor_sources_nor_updates_by_hand() -> None:
    tape = Tape()
    w = tape.leaf("w")
    values = tape.op("max", w, out="values", outputs=2)
    picked = tape.tensors[-1].id
    tape.tensors[-1] = replace(tape.tensors[-1], requires_grad=False, grad_fn=None, is_leaf=True, dtype="int64")
    made = tape.op("ones", out="made", records=False)
    tape.op("sub_", w, out="w", records=False, grad_mode="no_grad", in_place="w", identity=w)
    written = tape.tensors[-1].id
    plain = tape.op("neg", made, records=False)
    ghost = tape.op("stack", picked, made, written, plain, out="ghost", records=False)
    loss = tape.op("mul", values, ghost, out="loss")
    tape.backward(loss)
    graph = view(tape.trace())
    assert [(one.title, one.kind) for one in graph.boxes if one.kind == "ghost"] == [
        ("neg", "ghost"),
        ("stack", "ghost"),
    ]


def test_a_box_says_which_output_of_its_node_it_shows() -> None:
    tape = Tape()
    x = tape.leaf("x")
    y = tape.op("topk", x, out="y", outputs=2)
    unknown = tape.op("add", x, y, out="unknown")
    loss = tape.op("sum", unknown, out="loss")
    tape.backward(loss)
    first = next(at for at, tensor in enumerate(tape.tensors) if tensor.id == y)
    made = tape.tensors[first].grad_fn
    assert made is not None
    tape.tensors[first] = replace(tape.tensors[first], grad_fn=replace(made, output_nr=1))
    tape.tensors = [tensor for tensor in tape.tensors if tensor.id != unknown]
    boxes = {one.title: one for one in view(tape.trace(), level="forward").boxes}
    assert (boxes["topk"].output_nr, boxes["sum"].output_nr) == (1, 0)
    assert (boxes["add"].tensor, boxes["add"].output_nr) == (unknown, 0), "a result that the trace left out"


def test_an_integer_result_is_a_ghost_without_a_cut() -> None:
    tape = Tape()
    x = tape.leaf("x", shape=(3,))
    y = tape.op("mul", x, out="y", numbers=["2"], shape=(3,))
    tape.op("argmax", y, out="idx", records=False, dtype="int64")
    graph = view(tape.trace())
    assert (box(graph, "argmax").reason, ends(graph)[-1]) == ("integer", ("y", "idx", "ghost"))


def linear(tape: Tape, x: str, module: str, weight: str, bias: str) -> str:
    """`F.linear`: the transpose of the weight, then addmm."""
    op_id = f"o{len(tape.ops) + 1}"
    result = tape.op("linear", x, module=module, node="AddmmBackward0", shape=(2, 4), text="self.fc(x)")
    tape.nodes = [node for node in tape.nodes if node.op != op_id]
    leaf = {node.variable: node.id for node in tape.nodes if node.variable}
    first = len(tape.nodes) + 1
    transpose, addmm = f"n{first}", f"n{first + 1}"
    tape.nodes.append(
        Node(
            id=transpose,
            type="TBackward0",
            edges=(Edge(to=leaf[weight], input_nr=0, name="self"),),
            op=op_id,
            sequence_nr=str(first),
        )
    )
    edges = (
        Edge(to=leaf[bias], input_nr=0, name="self"),
        tape.edge_to(x, "mat1"),
        Edge(to=transpose, input_nr=0, name="mat2"),
    )
    tape.nodes.append(Node(id=addmm, type="AddmmBackward0", edges=edges, op=op_id, sequence_nr=str(first + 1)))
    tape.ops[-1] = replace(tape.ops[-1], inputs=(x, weight, bias), nodes=(transpose, addmm))
    made = OutputOf(node=addmm, output_nr=0)
    tape.tensors[-1] = replace(tape.tensors[-1], grad_fn=made, requires_grad=True, is_leaf=False)
    return result


def model() -> Tape:
    tape = Tape("class Net: ...\n        return self.fc(x)\n")
    top = tape.module("model", "Net")
    holder = tape.module("model.layers", "ModuleList", parent=top, calls=0)
    first = tape.module("model.layers.0", "Linear", parent=holder)
    second = tape.module("model.layers.1", "Linear", parent=holder)
    w0 = tape.parameter(first, "model.layers.0.weight", shape=(4, 3))
    b0 = tape.parameter(first, "b0", shape=(4,))
    w1 = tape.parameter(second, "model.layers.1.weight", shape=(4, 4))
    b1 = tape.parameter(second, "b1", shape=(4,))
    x = tape.tensor("x", shape=(2, 3))
    h = linear(tape, x, first, w0, b0)
    h = tape.op("relu", h, module=top, shape=(2, 4))
    h = linear(tape, h, second, w1, b1)
    loss = tape.op("sum", h, out="loss")
    tape.backward(loss)
    return tape


def test_parameters_are_folded_into_their_op_through_the_transpose() -> None:
    graph = view(model().trace())
    assert [one.title.removesuffix("Backward0") for one in graph.boxes] == ["Addmm", "Relu", "Addmm", "Sum"]
    first = graph.boxes[0]
    assert [(parameter.name, parameter.slot) for parameter in first.parameters] == [
        ("b0", 0),
        ("model.layers.0.weight", 2),
    ]
    assert first.folded == ("n5",)
    assert first.constants == ("x",)


def test_level_autograd_keeps_the_transpose_as_a_box() -> None:
    graph = view(model().trace(), level="autograd")
    assert [one.title for one in graph.boxes][:2] == ["TBackward0", "AddmmBackward0"]
    assert graph.boxes[0].tensor is None
    assert graph.boxes[0].name == "model.layers.0.weight.T"
    assert [parameter.name for parameter in graph.boxes[0].parameters] == ["model.layers.0.weight"]


def test_modules_are_nested_groups_and_containers_only_lend_their_name() -> None:
    graph = view(model().trace())
    assert [(group.title, group.type, group.kind, group.size, group.parameters) for group in graph.groups] == [
        ("model", "Net", "module", 3, 36),
        ("layers.0", "Linear", "module", 1, 16),
        ("layers.1", "Linear", "module", 1, 20),
    ]
    assert [group.parent for group in graph.groups] == [None, "g1", "g1"]
    assert [one.group for one in graph.boxes] == ["g2", "g1", "g3", None]
    assert graph.groups[0].node == graph.boxes[2].node


def test_a_module_that_only_holds_a_module_is_joined_with_it() -> None:
    tape = Tape()
    outer = tape.module("model", "Net")
    inner = tape.module("model.net", "Sequential", parent=outer)
    x = tape.leaf("x")
    y = tape.op("relu", x, module=inner)
    tape.backward(tape.op("neg", y, module=inner, out="y"))
    assert [(group.title, group.type, group.size) for group in view(tape.trace()).groups] == [
        ("model.net", "Sequential", 2)
    ]


def test_a_parameter_of_no_module_is_a_leaf_where_its_gradients_meet() -> None:
    tape = Tape()
    p = tape.leaf("p", role="parameter")
    tape.backward(tape.op("mul", p, p, out="r"))
    for level in ("both", "forward"):
        graph = view(tape.trace(), level=level)
        assert [(one.kind, one.name, len(one.parameters)) for one in graph.boxes] == [("leaf", "p", 0), ("op", "r", 0)]
        assert [link.source for link in graph.links] == [graph.boxes[0].id] * 2


def test_a_shared_parameter_is_counted_at_each_use() -> None:
    tape = Tape()
    top = tape.module("model", "Net")
    w = tape.parameter(top, "model.w")
    x = tape.leaf("x")
    y = tape.op("mul", x, w, module=top)
    y = tape.op("mul", y, w, module=top, out="y")
    tape.backward(y)
    graph = view(tape.trace())
    assert [one.parameters[0].shared for one in graph.boxes if one.parameters] == [2, 2]
    assert graph.groups[0].parameters == 1


@pytest.mark.parametrize("level", ["autograd", "forward", "both"])
def test_a_parameter_that_an_op_takes_twice_is_listed_once(level: Level) -> None:
    tape = Tape()
    model = tape.module("model", "Net")
    w = tape.parameter(model, "model.w")
    tape.backward(tape.op("mul", w, w, module=model, out="y"))
    (parameter,) = view(tape.trace(), level=level).boxes[0].parameters
    assert (parameter.name, parameter.slot, parameter.shared) == ("model.w", 0, 1)


def loop_of(times: int) -> Tape:
    tape = Tape("while y.norm() < 1000:\n    y = y * 2\n")
    y = tape.leaf("x")
    for _ in range(times):
        y = tape.op("mul", y, out="y", text="y * 2", numbers=["2"])
    tape.backward(y)
    return tape


def test_a_line_run_three_times_is_a_loop() -> None:
    graph = view(loop_of(11).trace())
    assert [(group.kind, group.title, group.repeat, group.size) for group in graph.groups] == [
        ("loop", "while y.norm() < 1000", 11, 11)
    ]
    assert view(loop_of(2).trace()).groups == ()


def test_each_iteration_of_more_than_one_op_is_a_group() -> None:
    tape = Tape("for i in range(3):\n    y = y * 2\n    y = y.sin()\nz = y + 1\n")
    y = tape.leaf("x")
    for _ in range(3):
        y = tape.op("mul", y, out="y", text="y * 2", numbers=["2"])
        y = tape.op("sin", y, out="y", text="y.sin()")
    tape.backward(tape.op("add", y, out="z", text="y + 1", numbers=["1"]))
    graph = view(tape.trace())
    assert [(group.title, group.type, group.repeat, group.size, group.parent) for group in graph.groups] == [
        ("for i in range(3)", "", 3, 6, None),
        ("i = 0", "for i", 1, 2, "g1"),
        ("i = 1", "for i", 1, 2, "g1"),
        ("i = 2", "for i", 1, 2, "g1"),
    ]
    assert graph.boxes[-1].group is None


def test_loops_in_loops_are_groups_in_groups() -> None:
    tape = Tape("for i in a:\n    y = y + 1\n    for j in b:\n        y = y * 2\n")
    y = tape.leaf("x")
    for _ in range(3):
        y = tape.op("add", y, text="y + 1", numbers=["1"])
        for _ in range(4):
            y = tape.op("mul", y, text="y * 2", numbers=["2"])
    tape.backward(y)
    groups = view(tape.trace()).groups
    assert [(group.title, group.repeat) for group in groups if group.repeat > 1] == [
        ("for i in a", 3),
        ("for j in b", 4),
        ("for j in b", 4),
        ("for j in b", 4),
    ]


def test_a_cell_called_in_a_loop_is_one_group_for_each_call() -> None:
    tape = Tape("for x in xs:\n    h = self.cell(x, h)\n    h = h + 1\n")
    top = tape.module("model", "Rnn")
    cell = tape.module("model.cell", "Cell", parent=top)
    h = tape.leaf("h")
    for _ in range(3):
        h = tape.op("tanh", h, module=cell, text="self.cell(x, h)")
        h = tape.op("add", h, module=top, text="h + 1", numbers=["1"])
    tape.backward(h)
    kinds = [(group.kind, group.title, group.size) for group in view(tape.trace()).groups]
    assert kinds[:2] == [("module", "model", 6), ("loop", "for x in xs", 6)]
    assert kinds.count(("module", "cell", 1)) == 3


def test_long_flat_lists_are_cut_into_lines() -> None:
    graph = view(loop_of(1008).trace())
    middle = next(group for group in graph.groups if group.title == "5–1004")
    chunks = [group for group in graph.groups if group.kind == "line"]
    assert (middle.parent, middle.repeat) == ("g1", 1000)
    assert [chunk.title for chunk in chunks] == [f"{first}–{first + 99}" for first in range(5, 1005, 100)]
    assert all(chunk.size == 100 and chunk.parent == middle.id for chunk in chunks)


def test_roots_are_unconsumed_globals_then_roots_of_passes() -> None:
    tape = Tape()
    x = tape.leaf("x")
    first = tape.op("mul", x, out="a", numbers=["2"])
    second = tape.op("mul", x, out="b", numbers=["3"])
    third = tape.op("mul", x, out="c", numbers=["4"])
    tape.backward(second)
    tape.backward(first)
    graph = view(tape.trace())
    assert [(root.name, root.passes) for root in graph.roots] == [("c", ()), ("b", ("p1",)), ("a", ("p2",))]
    assert (graph.root, graph.pass_id) == (graph.roots[-1].id, "p2")
    assert view(tape.trace(), pass_id="p1").root == graph.roots[1].id
    of_third = view(tape.trace(), root=graph.roots[0].id)
    assert (of_third.pass_id, [one.tensor for one in of_third.boxes][-1]) == (None, third)


def test_a_pass_with_two_roots_is_drawn_whole() -> None:
    tape = Tape()
    x = tape.leaf("x")
    a, b = tape.op("sin", x, out="a"), tape.op("cos", x, out="b")
    tape.backward(a, b)
    graph = view(tape.trace())
    assert graph.root is None
    assert [one.name for one in graph.boxes] == ["x", "a", "b"]


def test_a_leaf_can_be_the_root() -> None:
    tape = Tape()
    tape.backward(tape.leaf("x"))
    assert [(one.kind, one.name) for one in view(tape.trace()).boxes] == [("leaf", "x")]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"root": "n99"}, "root 'n99' is not a root of this trace; its roots are n5"),
        ({"pass_id": "p9"}, "pass 'p9' is not in this trace; its passes are p1"),
        ({"level": "all"}, "level 'all' is unknown; choose one of autograd, forward, both"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused_in_words(choice: dict[str, str], words: str) -> None:
    with pytest.raises(NoSuchChoice, match=words):
        view(square().trace(), **choice)  # type: ignore[arg-type]


def test_a_pass_that_starts_elsewhere_is_refused() -> None:
    tape = Tape()
    x = tape.leaf("x")
    a, b = tape.op("sin", x, out="a"), tape.op("cos", x, out="b")
    tape.backward(a)
    tape.backward(b)
    with pytest.raises(NoSuchChoice, match="pass 'p2' does not start at root 'n2'; its passes from there are p1"):
        view(tape.trace(), root="n2", pass_id="p2")


def test_without_a_backward_graph_the_forward_ops_are_ghosts() -> None:
    tape = Tape("a = torch.ones(2)\nb = a * 2\n")
    a = tape.op("ones", out="a", text="torch.ones(2)", shape=(2,))
    tape.op("mul", a, out="b", text="a * 2", numbers=["2"], shape=(2,))
    graph = view(tape.trace())
    assert (graph.root, graph.roots) == (None, ())
    assert [(one.kind, one.title, one.reason) for one in graph.boxes] == [
        ("ghost", "ones", "untracked"),
        ("ghost", "mul", "untracked"),
    ]
    assert ends(graph) == [("a", "b", "ghost")]


def test_broadcast_axes_are_on_the_link() -> None:
    tape = Tape()
    a, b = tape.leaf("a", shape=(4, 3)), tape.leaf("b", shape=(3,))
    y = tape.op("add", a, b, shape=(4, 3), out="y", broadcast=(Broadcast(input=1, axes=(0,)),))
    tape.backward(y)
    assert [link.broadcast for link in view(tape.trace()).links] == [(), (0,)]


def test_detached_state_of_an_earlier_pass_is_a_stub() -> None:
    tape = Tape()
    w = tape.leaf("w")
    h = tape.op("mul", w, out="h", numbers=["2"])
    tape.backward(h, visits=[Visit(node="n2", entered=(None,), left=(None,))])
    kept = tape.op("detach", h, records=False, out="h")
    tape.backward(tape.op("mul", kept, w, out="h2"))
    graph = view(tape.trace())
    assert [one.title for one in graph.boxes] == ["detach", "leaf", "MulBackward0"]
    assert box(graph, "detach").constants == ("h",)


def test_a_box_limit_keeps_what_is_near_the_root_and_counts_the_rest() -> None:
    graph = view(loop_of(50).trace(), max_boxes=20)
    assert (len(graph.boxes), graph.omitted) == (20, 31)
    kept = {one.id for one in graph.boxes}
    assert all(link.source in kept and link.target in kept for link in graph.links)


@pytest.mark.slow
def test_ten_thousand_nodes_take_linear_time() -> None:
    small, large = loop_of(1_000).trace(), loop_of(10_000).trace()
    view(small)
    times = []
    for trace in (small, large):
        start = time.process_time()
        view(trace)
        times.append(time.process_time() - start)
    assert times[1] < 40 * max(times[0], 0.002)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("SubBackward0", "minus"),
        ("SinBackward0", "op"),
        ("MulBackward0", "mul"),
        ("mul_", "mul"),
        ("AddmmBackward0", "mat"),
        ("layer_norm", "norm"),
        ("NativeLayerNormBackward0", "norm"),
        ("ScaledDotProductFlashAttentionForCpuBackward0", "attn"),
        ("SquareBackward", "mul"),
        ("MineBackward", "op"),
    ],
)
def test_a_family_is_known_by_node_type_or_op_name(name: str, family: str) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize(("taken", "by"), [("h.item()", "item"), ("float(h)", "float")])
def test_a_number_read_out_and_used_again_is_a_cut_called_as_the_program_does(taken: str, by: str) -> None:
    tape = Tape(f"s = {taken}\nloss = w * s\n")
    w = tape.leaf("w")
    h = tape.op("mul", w, out="h", numbers=["2"])
    tape.op("item", h, text=taken, outputs=0)
    tape.backward(tape.op("mul", w, out="loss", text="w * s", numbers=["3.0"]))
    graph = view(tape.trace())
    assert ends(graph) == [("w", "h", "data"), ("h", by, "cut"), ("w", "loss", "data"), (by, "loss", "ghost")]
    assert [link.reason for link in graph.links if link.kind == "cut"] == [by]


def test_a_number_read_out_and_made_a_tensor_again_is_a_cut_that_shows_what_it_left() -> None:
    tape = Tape("h = w * 2\nloss = torch.tensor(h.item()) * v\n")
    h = tape.op("mul", tape.leaf("w"), out="h", text="w * 2", numbers=["2"])
    tape.op("item", h, text="h.item()", outputs=0)
    again = tape.op("tensor", text="torch.tensor(h.item())")
    tape.backward(tape.op("mul", again, tape.leaf("v"), out="loss", text="torch.tensor(h.item()) * v"))
    graph = view(tape.trace())
    assert ends(graph) == [
        ("w", "h", "data"),
        ("h", "item", "cut"),
        ("item", "torch.tensor(h.item())", "ghost"),
        ("v", "loss", "data"),
        ("torch.tensor(h.item())", "loss", "ghost"),
    ]
    assert [box.tensor for box in graph.boxes if box.title == "item"] == [h]


def test_a_number_that_is_only_printed_is_not_drawn() -> None:
    tape = Tape("loss = w * 2\nprint(loss.item())\n")
    loss = tape.op("mul", tape.leaf("w"), out="loss", text="w * 2", numbers=["2"])
    tape.op("item", loss, text="loss.item()", outputs=0)
    tape.backward(loss)
    assert [one.title for one in view(tape.trace()).boxes] == ["leaf", "MulBackward0"]


def test_a_pass_that_could_not_start_shows_what_led_to_its_tensor() -> None:
    tape = Tape("h = w * 2\nloss = torch.tensor(h.item() - 1)\nloss.backward()\n")
    h = tape.op("mul", tape.leaf("w"), out="h", text="w * 2", numbers=["2"])
    tape.op("item", h, text="h.item()", outputs=0)
    loss = tape.op("tensor", out="loss", text="torch.tensor(h.item() - 1)")
    tape.backward(loss, failed=True)
    graph = view(tape.trace())
    assert ends(graph) == [("w", "h", "data"), ("h", "item", "cut"), ("item", "loss", "ghost")]
    assert (graph.root, graph.pass_id) == (None, "p1")


def test_edges_decide_the_order_where_sequence_numbers_do_not() -> None:
    tape = Tape()
    x = tape.leaf("x")
    y = tape.op("sin", x)
    tape.backward(tape.op("cos", y, out="y"))
    tape.nodes = [replace(node, op=None, sequence_nr=str(9 - at)) for at, node in enumerate(tape.nodes)]
    graph = view(tape.trace(), level="autograd")
    order = {one.id: one.order for one in graph.boxes}
    assert len(graph.links) == 2
    assert all(order[link.source] < order[link.target] for link in graph.links)


def many_nodes(count: int) -> Tape:
    """One op that made a chain of equal nodes, as `matmul` and unrolled recurrent layers do."""
    tape = Tape("y = x @ w\n")
    x = tape.leaf("x")
    y = tape.op("matmul", x, out="y", text="x @ w", node="ViewBackward0")
    (made,) = tape.ops[-1].nodes
    chain = [made, *(f"n{number}" for number in range(100, 99 + count))]
    inner = [
        replace(tape.nodes[-1], id=node, edges=(Edge(to=before, input_nr=0),), sequence_nr=str(at + 9))
        for at, (before, node) in enumerate(itertools.pairwise(chain))
    ]
    tape.nodes += inner
    tape.ops[-1] = replace(tape.ops[-1], nodes=tuple(chain))
    tape.tensors = [replace(tensor, grad_fn=OutputOf(node=chain[-1], output_nr=0)) if tensor.id == y else tensor
                    for tensor in tape.tensors]  # fmt: skip
    tape.backward(y)
    return tape


def test_the_nodes_of_one_small_op_are_no_loop() -> None:
    graph = view(many_nodes(8).trace())
    assert (len(graph.boxes), [group.kind for group in graph.groups]) == (9, ["op"])
    assert [one.name for one in graph.boxes] == ["x", *["x.view"] * 7, "y"]


def test_what_repeats_inside_one_large_op_is_a_loop_named_after_it() -> None:
    loop, *inside = view(many_nodes(40).trace()).groups
    assert (loop.title, loop.repeat) == ("matmul", 40)
    assert [(group.title, group.repeat, group.parent) for group in inside] == [("5–36", 32, loop.id)]


def test_thousands_of_numbers_read_for_a_log_cost_little() -> None:
    tape = Tape("for i in r:\n    loss = w * 2\n    log.append(loss.item())\n")
    w = tape.leaf("w")
    for _ in range(3_000):
        loss = tape.op("mul", w, out="loss", text="w * 2", numbers=["2"])
        tape.op("item", loss, text="loss.item()", outputs=0)
    tape.backward(loss)
    trace = tape.trace()
    start = time.process_time()
    assert len(view(trace).boxes) == 2
    assert time.process_time() - start < 1.0


def with_idle(extra: int) -> Graph:
    tape = model()
    for number in range(extra):
        tape.leaf(f"spare{number}", shape=(2,))
    return view(tape.trace())


def test_a_leaf_that_nothing_used_is_a_ghost() -> None:
    graph = with_idle(1)
    ghost = box(graph, "leaf", "spare0")
    assert (ghost.kind, ghost.reason, ghost.op, ghost.node) == ("ghost", "unused", None, None)
    assert not any(ghost.id in (link.source, link.target) for link in graph.links)
    assert [one.reason for one in graph.boxes].count("unused") == 1
    assert not any(one.reason == "unused" for one in view(square().trace()).boxes)


def test_many_unused_leaves_are_folded_into_the_last_ghost() -> None:
    idle = [one for one in with_idle(9).boxes if one.reason == "unused"]
    assert [one.name for one in idle] == ["spare0", "spare1", "spare2", "spare3", "spare4", ""]
    assert [parameter.name for parameter in idle[-1].parameters] == ["spare5", "spare6", "spare7", "spare8"]


def test_the_unused_parameters_of_a_module_are_one_ghost() -> None:
    tape = model()
    spare = tape.module("model.spare", "Linear", calls=0)
    weight = tape.parameter(spare, "model.spare.weight", shape=(2, 2))
    tape.parameter(spare, "model.spare.bias", shape=(2,))
    tape.op("uniform_", weight, in_place=weight, records=False, grad_mode="no_grad", shape=(2, 2))
    (ghost,) = [one for one in view(tape.trace()).boxes if one.reason == "unused"]
    assert (ghost.title, ghost.name) == ("Linear", "model.spare")
    assert [parameter.name for parameter in ghost.parameters] == ["model.spare.weight", "model.spare.bias"]


def test_only_the_level_with_ghosts_shows_what_was_unused() -> None:
    tape = square()
    tape.leaf("spare")
    levels: tuple[Level, ...] = ("autograd", "forward")
    assert all(one.reason != "unused" for level in levels for one in view(tape.trace(), level=level).boxes)


def squared_and_passed(tape: Tape, x: str, name: str) -> tuple[str, str]:
    """The result of `x * x` and the pass that begins there; of `z` the second in the text."""
    made = tape.op("mul", x, x, out=name, text="x * x", nth=int(name == "z"))
    return made, tape.backward(made, text=f"{name}.backward()")


def test_what_lies_between_two_passes_belongs_to_the_pass_before() -> None:
    tape = Tape("y = x * x\ny.backward()\nopt.step()\nz = x * x\nz.backward()\nopt.step()\n")
    x = tape.leaf("x")
    _, first = squared_and_passed(tape, x, "y")
    tape.timeline += [Step(kind="pass_end", pass_id=first), Step(kind="update")]
    _, second = squared_and_passed(tape, x, "z")
    tape.timeline += [Step(kind="pass_end", pass_id=second), Step(kind="update")]
    trace = tape.trace()
    kinds = [step.kind for step in trace.timeline]
    assert kinds == ["op", "pass", "pass_end", "update", "op", "pass", "pass_end", "update"]
    assert [pass_at(trace, step) for step in range(len(kinds) + 1)] == [first] * 5 + [second] * 4


def test_what_lies_after_a_check_of_gradients_belongs_to_the_last_pass_that_is_none() -> None:
    tape = Tape("y = x * x\ny.backward()\ngradcheck(f, x * x)\nprint(x.grad)\n")
    x = tape.leaf("x")
    _, own = squared_and_passed(tape, x, "y")
    tape.timeline.append(Step(kind="pass_end", pass_id=own))
    made = tape.op("mul", x, x, text="x * x", nth=1)
    check = tape.backward(made, text="gradcheck(f, x * x)")
    tape.timeline += [Step(kind="pass_end", pass_id=check), Step(kind="output")]
    trace = tape.trace()
    assert [pass_at(trace, step) for step in range(8)] == [own] * 4 + [check] * 3 + [own]
    assert view(trace).passes == (own,)


def test_an_op_that_no_pass_to_come_leads_back_to_begins_none() -> None:
    tape = Tape("y = x * x\ny.backward()\nprint(y * y)\nz = x * x\nz.backward()\n")
    x = tape.leaf("x")
    y, first = squared_and_passed(tape, x, "y")
    tape.timeline.append(Step(kind="pass_end", pass_id=first))
    tape.op("mul", y, y, text="y * y")
    tape.timeline += [Step(kind="call"), Step(kind="call_end"), Step(kind="call")]
    _, second = squared_and_passed(tape, x, "z")
    tape.timeline.append(Step(kind="pass_end", pass_id=second))
    trace = tape.trace()
    kinds = [step.kind for step in trace.timeline]
    assert kinds == ["op", "pass", "pass_end", "op", "call", "call_end", "call", "op", "pass", "pass_end"]
    assert [pass_at(trace, step) for step in range(len(kinds) + 1)] == [first] * 7 + [second] * 4


def test_a_call_of_one_rank_begins_nothing_where_the_pass_of_another_runs_on() -> None:
    tape = Tape("y = x * x\ny.backward()\nz = x * x\nz.backward()\n")
    x = tape.leaf("x")
    y = tape.op("mul", x, x, out="y", text="x * x")
    first = tape.backward(y, text="y.backward()")
    tape.timeline += [Step(kind="pass_end", pass_id=first), Step(kind="call")]
    z = tape.op("mul", x, x, out="z", text="x * x", nth=1)
    made = tape.timeline.pop()
    second = tape.backward(z, text="z.backward()")
    tape.timeline += [Step(kind="pass_end", pass_id=second), made]
    trace = tape.trace()
    assert [step.kind for step in trace.timeline[3:5]] == ["call", "pass"]
    assert [pass_at(trace, step) for step in (4, 5)] == [first, second]
