"""One index of a trace: what it finds, and what it takes over from the index of the trace that another was derived
from."""

from msgspec.structs import replace

from engine.trace import Module
from engine.trace_index import TraceIndex
from tests.engine.traces import Tape


def tape() -> Tape:
    tape = Tape("w = torch.ones(2, requires_grad=True)\ny = w * 2\nz = y + 1\nz.sum().backward()\n")
    w = tape.leaf("w", shape=(2,))
    y = tape.op("mul", w, out="y", text="w * 2", shape=(2,))
    z = tape.op("add", y, out="z", text="y + 1", shape=(2,))
    tape.backward(tape.op("sum", z, text="z.sum()"), text="z.sum().backward()")
    return tape


def test_look_ups_of_parts_that_are_shared_are_taken_over() -> None:
    trace = tape().trace()
    known = TraceIndex(trace)
    assert known.maker
    assert known.op_step
    derived = TraceIndex(replace(trace, ops=trace.ops[:1], curve=()), known)
    assert derived.tensors is known.tensors
    assert derived.nodes is known.nodes
    assert list(derived.ops) == [trace.ops[0].id]
    assert len(derived.maker) == 1
    same = TraceIndex(replace(trace, curve=()), known)
    assert same.maker is known.maker
    assert same.op_step is not known.op_step


def test_makers_takers_and_names_are_found() -> None:
    trace = tape().trace()
    index = TraceIndex(trace)
    mul, add, total = trace.ops
    (y,) = mul.outputs
    assert index.maker[y] is mul
    assert index.takers[y] == [add]
    assert index.name(y) == "y"
    assert index.text_of(add) == "y + 1"
    assert [op.name for op in index.ops_named(["sum", "mul"])] == ["sum", "mul"]
    assert index.ops_at(add.span) == [add]
    assert index.op_of_node(add.nodes[0]) is add
    assert index.is_tracked_leaf(mul.inputs[0])
    assert index.uses[mul.inputs[0]] == [mul]
    assert index.reached_from(total.nodes) == set(index.nodes)
    assert index.op_step[mul.id] < index.op_step[add.id]


def test_a_circle_of_modules_ends() -> None:
    modules = (
        Module(id="m1", path="a", type="A", parent="m2", calls=1),
        Module(id="m2", path="b", type="B", parent="m1", calls=1),
        Module(id="m3", path="b.c", type="ModuleList", parent="m2"),
    )
    index = TraceIndex(replace(tape().trace(), modules=modules))
    assert index.module_chain("m1") == ("m2", "m1")
    assert index.module_chain("m3") == ("m1", "m2", "m3")
    assert index.module_chain("no module") == ()
    assert index.outermost(modules[2]).id == "m1"
