"""How large programs fold: calls of functions, rows of a network, alike blocks, leaves where they are used."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import engine
from engine.graph import Graph, Group, view
from engine.trace import Op

PROGRAMS = Path(__file__).parents[2] / "e2e" / "programs"


def folded(name: str) -> Graph:
    return view(engine.run((PROGRAMS / f"{name}.py").read_text(encoding="utf-8")))


def top(graph: Graph) -> list[Group]:
    return [group for group in graph.groups if group.parent is None]


@pytest.mark.parametrize(
    ("name", "rows", "called"),
    [
        ("scalar_mlp", ["net[0]", "net[1]", "net[2][0]"], "neuron"),
        (
            "scalar_mlp_of_classes",
            ["model.layers[0].neurons", "model.layers[1].neurons", "model.layers[2].neurons[0]"],
            "Neuron",
        ),
    ],
)
def test_a_scalar_network_folds_by_call_and_row(name: str, rows: list[str], called: str) -> None:
    graph = folded(name)
    assert [(group.title, group.type, group.repeat) for group in top(graph)] == [
        (rows[0], called, 16),
        (rows[1], called, 15),
        (rows[2], called, 1),
    ]
    assert not any(box.kind == "leaf" and box.group is None for box in graph.boxes)


def test_alike_blocks_are_one_group() -> None:
    graph = folded("gpt12")
    blocks = next(group for group in graph.groups if group.title == "blocks")
    inside = [group for group in graph.groups if group.parent == blocks.id]
    assert (blocks.type, blocks.repeat) == ("Block", 12)
    assert [group.title for group in inside] == [f"blocks.{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("program", "title", "repeat"),
    [("recurrent", "for x in xs", 12), ("of_pytorch", "gru", 9), ("of_functions", "step", 5)],
)
def test_an_unrolled_network_hands_its_state_on(program: str, title: str, repeat: int) -> None:
    graph = view(engine.run(RECURRENT[program]))
    loop = next(group for group in graph.groups if group.repeat > 1)
    steps = [group for group in graph.groups if group.parent == loop.id]
    assert (loop.title, loop.repeat, loop.hands_on) == (title, repeat, True)
    assert [step.title for step in steps] == [str(number + 1) for number in range(repeat)]
    assert len({step.size for step in steps}) == 1


def test_turns_begin_and_are_named_where_the_loop_calls_the_cell() -> None:
    graph = view(engine.run(CELL))
    loop = next(group for group in graph.groups if group.repeat > 1)
    turns = {group.id: group for group in graph.groups if group.parent == loop.id}
    assert (loop.title, loop.hands_on) == ("for t in range(5)", True)
    assert {turn.type for turn in turns.values()} == {"for t"}
    cut = [turns[box.group or ""].title for box in graph.boxes if box.title == "detach"]
    assert cut == ["t = 2"], "detached at the head of the third turn"
    made = {box.tensor: box.name for box in graph.boxes if box.kind == "op"}
    assert [made[turn.tensor] for turn in turns.values()] == ["total"] * 5, "not the number read after it"


def test_the_middle_of_a_long_one_is_one_box() -> None:
    graph = folded("rnn60")
    loop = next(group for group in graph.groups if group.hands_on)
    steps = [group for group in graph.groups if group.parent == loop.id]
    assert [(step.title, step.repeat) for step in steps] == [
        *((f"t = {number}", 1) for number in (0, 1, 2, 3)),
        ("t = 4–55", 52),
        *((f"t = {number}", 1) for number in (56, 57, 58, 59)),
    ]


@pytest.mark.parametrize("name", ["gpt12", "resnet18", "scalar_mlp"])
def test_blocks_with_weights_of_their_own_hand_nothing_on(name: str) -> None:
    assert not any(group.hands_on for group in folded(name).groups)


def test_what_a_loop_starts_from_stays_outside() -> None:
    graph = view(engine.run(CHAIN))
    leaves = {box.name: box.group for box in graph.boxes if box.kind == "leaf"}
    assert leaves["x"] is None


def test_weights_of_iterations_stand_in_them() -> None:
    graph = view(engine.run(WEIGHTS))
    leaves = {box.name: box.group for box in graph.boxes if box.kind == "leaf"}
    assert leaves["x"] is None
    assert len({leaves[f"ws[{number}]"] for number in range(4)} - {None}) == 4


def test_a_function_called_once_or_twice_is_no_group() -> None:
    assert not view(engine.run(TWICE)).groups


def test_one_call_is_not_taken_for_several() -> None:
    assert not view(engine.run(ONE_CALL)).groups


def test_turns_are_of_the_loop_that_calls() -> None:
    assert named(MADE_IN_A_LOOP) == [
        ("loop", "f", 3),
        ("loop", "for g in gs", 3),
        ("loop", "lambda h, k=k: (h + k).tanh() * h", 3),
    ], "not of those that made the functions"
    assert named(TWO_LOOPS) == [("loop", "for step in range(3)", 3), ("loop", "for turn in range(3)", 3)]


def test_turns_of_an_inner_loop_end_with_it() -> None:
    assert named(INNER) == [("loop", "for i in range(3)", 3), *[("loop", "for j in range(4)", 4)] * 3]


def test_calls_of_a_function_that_calls_itself_are_not_told_apart() -> None:
    assert named(TREE) == [("recursion", "encode", 1), ("recursion", "power", 1)]
    assert {kind for kind, *_ in named(TREE_MODULE)} <= {"module", "op"}
    helped = TREE.replace("return torch.tanh(W @ both)", "return act(W @ both)")
    helped = helped.replace("def encode", "def act(x):\n    return torch.where(x > 0, x, 0.1 * x)\n\ndef encode")
    assert not any(kind == "loop" for kind, *_ in named(helped)), "a helper's calls are no turns of a loop"


def test_the_additions_of_a_sum_are_one_group() -> None:
    assert named(SUMMED) == [
        ("loop", "for k in range(4)", 4),
        ("steps", "sum(history)", 4),
        ("steps", "sum(history)", 4),
    ]


def test_steps_of_a_packed_batch_are_told_by_their_weights() -> None:
    groups = view(engine.run(PACKED)).groups
    loops = [group for group in groups if group.repeat > 1]
    assert [(group.title, group.type, group.repeat, group.hands_on) for group in loops] == [
        ("lstm", "l0", 4, True),
        ("lstm", "l0_reverse", 4, True),
    ]
    steps = [[group.size for group in groups if group.parent == loop.id] for loop in loops]
    assert steps == [[13, 13, 15, 13]] * 2, "where a sequence ends, the state is cut or grows"


def named(program: str) -> list[tuple[str, str, int]]:
    """The groups without single turns and calls."""
    groups = view(engine.run(program)).groups
    return [(group.kind, group.title, group.repeat) for group in groups if not group.title.split(" = ")[-1].isdecimal()]


MADE_IN_A_LOOP = """
import torch

fs, gs, ls = [], [], []
for k in (1, 2, 3):
    def f(h, k=k):
        return (h * k).sin() + h
    fs.append(f)

def make(k):
    def g(h):
        return (h * k).exp()
    return g

for k in range(3):
    gs.append(make(k))
    ls.append(lambda h, k=k: (h + k).tanh() * h)
y = torch.tensor(0.7, requires_grad=True)
for f in fs:
    y = f(y)
total = sum(g(y) for g in gs)
torch.stack([l(total) for l in ls]).sum().backward()
"""

TWO_LOOPS = """
import torch

def model(x):
    h = x @ w
    return h.tanh()

def train(total):
    for turn in range(3):
        total = total + model(x).mean()
    return total

w, x, total = torch.ones(3, requires_grad=True), torch.ones(4, 3), 0
for step in range(3):
    total = total + model(x).sum()
train(total).backward()
"""

INNER = """
import torch
y = torch.tensor(0.5, requires_grad=True)
for i in range(3):
    for j in range(4):
        y = y.sin()
    y = y + 1
y.backward()
"""

TREE = """
import torch
W, emb = torch.ones(2, 4, requires_grad=True), torch.ones(3, 2, requires_grad=True)

def encode(tree):
    if isinstance(tree, int):
        return emb[tree]
    both = torch.cat([encode(tree[0]), encode(tree[1])])
    return torch.tanh(W @ both)

def power(x, n):
    return x if n == 0 else x * power(x, n - 1)

power(encode((((0, 1), 2), (1, (0, 2)))).sum(), 5).backward()
"""

TREE_MODULE = """
import torch
from torch import nn

class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.join = nn.Embedding(3, 2), nn.Linear(4, 2)

    def forward(self, tree):
        if isinstance(tree, int):
            return self.embed(torch.tensor(tree))
        return torch.tanh(self.join(torch.cat([self(tree[0]), self(tree[1])])))

model = Tree()
model(((0, 1), (2, (1, 0)))).sum().backward()
"""

PACKED = """
import torch
from torch import nn
packed = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 4, 3), torch.tensor([4, 2]), batch_first=True)
lstm = nn.LSTM(3, 2, batch_first=True, bidirectional=True)
out, state = lstm(packed)
out.data.sum().backward()
"""

SUMMED = """
import torch
w, history = torch.ones(2, requires_grad=True), []
for k in range(4):
    history.append((w * k).sum())
total = 0
for part in range(2):
    total = total + sum(history)
total.backward()
"""

CHAIN = """
import torch
x = torch.tensor(1.0, requires_grad=True)
y = x
for i in range(5):
    y = (y * 1.5).sin()
y.backward()
"""

CELL = """
import torch
from torch import nn

class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih, self.hh = nn.Linear(2, 6), nn.Linear(3, 6)

    def forward(self, x, h):
        z, n = (self.ih(x) + self.hh(h)).chunk(2, dim=1)
        return torch.sigmoid(z) * h + torch.tanh(n)

cell, xs = Cell(), torch.randn(5, 1, 2)
h, total = torch.zeros(1, 3), 0.0
for t in range(5):
    if t == 2:
        h = h.detach()
    h = cell(xs[t], h)
    total = total + h.sum()
    total.item()
total.backward()
"""

RECURRENT = {
    "recurrent": """
import torch
from torch import nn
cell = nn.RNNCell(2, 3)
xs = torch.randn(12, 1, 2)
h = torch.zeros(1, 3)
for x in xs:
    h = cell(x, h)
h.sum().backward()
""",
    "of_pytorch": """
import torch
from torch import nn
states, last = nn.GRU(3, 4)(torch.randn(9, 1, 3))
states.sum().backward()
""",
    "of_functions": """
import torch

def step(w, h):
    wh = w @ h
    return torch.tanh(wh)

w = torch.eye(2, requires_grad=True)
h = torch.ones(2)
for _ in range(5):
    h = step(w, h)
h.sum().backward()
""",
}

WEIGHTS = """
import torch
ws = [torch.tensor(float(i), requires_grad=True) for i in range(4)]
x = torch.tensor(1.0, requires_grad=True)
y = x
for w in ws:
    y = (y * w).sin()
y.backward()
"""

TWICE = """
import torch

def f(x):
    return (x * 2).sin()

x = torch.tensor(1.0, requires_grad=True)
(f(x) + f(x * 3)).backward()
"""

ONE_CALL = """
import torch

def rosenbrock(p, steep=True):
    a = p[0] ** 2 if steep and p[1].item() else p[0]
    return (1 - p[0]) ** 2 + 10 * (p[1] - a) ** 2

p = torch.tensor([-1.0, 1.5], requires_grad=True)
rosenbrock(p).backward()
"""


SAMPLES = """import torch
ws = [torch.tensor(0.5 + k, requires_grad=True) for k in range(4)]
def unit(w, x):
    s = w * x
    return s.tanh()
def net(x):
    row = [unit(w, x) for w in ws]
    return row[0] + row[1] + row[2] + row[3]
loss = torch.tensor(0.0)
for x, t in [(1.0, 0.5), (2.0, -0.5), (0.5, 1.0), (1.5, 0.0)]:
    loss = loss + (net(x) - t) ** 2
loss.backward()
"""


def test_calls_belong_to_the_turn_that_takes_in_what_they_made() -> None:
    graph = view(engine.run(SAMPLES))
    [loop] = [group for group in top(graph) if group.title.startswith("for x, t")]
    turns = [group for group in graph.groups if group.parent == loop.id]
    assert [turn.size for turn in turns] == [14] * 4
    assert top(graph) == [loop]


LEAVES = """import torch
ws = [torch.tensor(0.1 * i + 0.1, requires_grad=True) for i in range(30)]
total = torch.tensor(0.0)
for i, w in enumerate(ws):
    total = total + w ** 2 * (i + 1)
total.backward()
"""


def test_the_middle_of_a_long_sum_over_leaves_is_one_box() -> None:
    graph = view(engine.run(LEAVES))
    [loop] = top(graph)
    steps = [group.title for group in graph.groups if group.parent == loop.id]
    assert steps == ["1", "2", "3", "4", "5–26", "27", "28", "29", "30"]
    assert not loop.hands_on


TURNS = """import torch
w = torch.tensor(0.9, requires_grad=True)
xs = torch.ones(30)
h = torch.tensor(0.5)
def f(x, w):
    for k in range(2, 8, 2):
        x = x * w + k
    return x
"""


@pytest.mark.parametrize(
    ("lines", "called"),
    [
        ("for t in range(4):\n    h = h * w + 1", ["t = 0", "t = 1", "t = 2", "t = 3"]),
        ("T = 3\nfor t in range(T, 0, -1):\n    h = h * w + 1", ["t = 3", "t = 2", "t = 1"]),
        ("for t in range(len(xs[:3])):\n    h = h * w + xs[t]", ["t = 0", "t = 1", "t = 2"]),
        ("h = f(h, w)", ["k = 2", "k = 4", "k = 6"]),
        ("h = f(f(h, w), w)", ["1", "2", "3", "4", "5", "6"]),
        ("for t in range(6):\n    if t % 2:\n        h = h * w + 1", ["1", "2", "3"]),
        ("for _ in range(3):\n    h = h * w + 1", ["1", "2", "3"]),
        ("for x in xs[:3]:\n    h = h * w + x", ["1", "2", "3"]),
        ("for t in range(10**30):\n    h = h * w + 1\n    if t == 2: break", ["1", "2", "3"]),
    ],
)
def test_a_turn_is_called_by_what_the_loop_counts_where_that_is_certain(lines: str, called: list[str]) -> None:
    graph = view(engine.run(f"{TURNS}{lines}\nh.backward()\n"))
    assert [group.title for group in graph.groups if group.parent is not None] == called


def test_what_one_line_works_out_first_is_of_its_own_turn() -> None:
    """In the first turn `h @ w` is another op: the state needs no gradient yet."""
    code = """import torch
w = torch.eye(2, requires_grad=True)
u = torch.ones(2, requires_grad=True)
h = torch.zeros(2)
for t in range(4):
    h = (h @ w + t * u).tanh()
h.sum().backward()
"""
    graph = view(engine.run(code))
    [loop] = [group for group in top(graph) if group.kind == "loop"]
    turns = [group for group in graph.groups if group.parent == loop.id]
    names = [[box.name for box in graph.boxes if box.group == turn.id] for turn in turns]
    assert [turn[-1] for turn in names] == ["h"] * 4 and names[0][0] == "h @ w"
    ops = [group for group in graph.groups if group.kind == "op"]
    assert [(op.title, op.parent) for op in ops] == [("h @ w", turn.id) for turn in turns[1:]]


def test_what_one_op_made_without_values_between_is_one_box() -> None:
    code = """import torch
from torch import nn
q, k = torch.eye(2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
score = torch.einsum("id,jd->ij", q, k)
loss = nn.functional.cross_entropy(score, torch.tensor([0, 1]))
loss.backward()
"""
    trace = engine.run(code)
    [op] = view(trace).groups
    assert (op.kind, op.title, op.type, op.parent) == ("op", "score", "einsum", None)
    made = next(op for op in trace.ops if op.name == "einsum")
    assert (op.size, op.tensor) == (len(made.nodes), made.outputs[0])
    assert view(trace, level="autograd").groups == ()


def test_a_module_that_one_op_is_all_of_is_one_box() -> None:
    code = """import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
net(torch.ones(2, 2, 2)).sum().backward()
"""
    groups = view(engine.run(code)).groups
    assert [(one.kind, one.title, one.type) for one in groups if one.size > 1] == [
        ("module", "net", "Sequential"),
        ("op", "0", "Linear"),
        ("op", "2", "Linear"),
    ]


def test_a_network_of_numbers_that_ran_several_times_has_a_group_for_each_time() -> None:
    code = """import torch
class Unit:
    def __init__(self, n):
        self.w = [torch.tensor(0.1 * i, requires_grad=True) for i in range(n)]
    def __call__(self, x):
        return sum(w * each for w, each in zip(self.w, x)).tanh()
class Net:
    def __init__(self):
        self.stages = [[Unit(2) for _ in range(4)], [Unit(4)]]
    def __call__(self, x):
        for stage in self.stages:
            x = [unit(x) for unit in stage]
        return x[0]
net = Net()
made = [net(x) for x in [[1.0, 2.0], [2.0, 1.0], [0.5, 1.0]]]
loss = sum(made)
loss.backward()
"""
    graph = view(engine.run(code))
    [net] = [group for group in graph.groups if group.title == "net"]
    runs = [group for group in graph.groups if group.parent == net.id]
    assert (net.repeat, [(run.title, run.type) for run in runs]) == (3, [(n, "net") for n in "123"])
    for run in runs:
        inside = [(group.title, group.repeat) for group in graph.groups if group.parent == run.id]
        assert inside == [("net.stages[0]", 4), ("net.stages[1][0].w", 1)]


def test_the_middle_of_turns_that_a_loop_counts_is_called_by_the_first_and_the_last() -> None:
    graph = view(engine.run(f"{TURNS}for t in range(30):\n    h = h * w + 1\nh.backward()\n"))
    assert "t = 4–25" in [group.title for group in graph.groups]


LAYERS = """import torch
class Layer:
    def __init__(self, n):
        self.w = [torch.tensor(0.1 + k, requires_grad=True) for k in range(n)]
    def __call__(self, x):
        for w in self.w:
            x = x * w
        return x
layers = [Layer(n) for n in (16, 18, 4)]
loss = torch.tensor(0.0)
for x in (1.0, 0.5, 0.25):
    out = x
    for layer in layers:
        out = layer(out)
    loss = loss + (out - 1) ** 2
loss.backward()
"""


def test_many_leaves_that_all_turns_use_stand_with_what_they_belong_to() -> None:
    graph = view(engine.run(LAYERS))
    rows = [(group.title, group.size) for group in top(graph) if group.kind == "line"]
    assert rows == [("layers[0]", 16), ("layers[1]", 18), ("layers[2]", 4)]


def test_a_layer_of_many_leaves_is_a_group_with_a_group_for_each_neuron() -> None:
    rows = "[[torch.tensor(0.1 + i, requires_grad=True) for i in range(6)] for _ in range(n)]"
    flat = "[w for row in layer for w in row]"
    code = f"layers = [{rows} for n in (5, 3)]\nloss = torch.tensor(0.0)\nfor x in (1.0, 0.5, 0.25):\n    out = x\n"
    code += f"    for layer in layers:\n        for w in {flat}:\n            out = out * w\n    loss = loss + out\n"
    graph = view(engine.run(f"import torch\n{code}loss.backward()\n"))
    found = [group for group in graph.groups if group.kind == "line"]
    assert [(group.title, group.size) for group in found if group.parent is None] == [
        ("layers[0]", 30),
        ("layers[1]", 18),
    ]
    inner = [(group.title, group.size) for group in found if group.parent is not None]
    assert inner == [(f"layers[0][{number}]", 6) for number in range(5)]


def test_a_list_of_leaves_alone_is_one_group_called_after_it() -> None:
    leaves = "ps = [torch.tensor(1.0, requires_grad=True) for _ in range(500)]"
    graph = view(engine.run(f"import torch\n{leaves}\ntorch.stack(ps).sum().backward()\n"))
    assert [(group.title, group.size) for group in top(graph)] == [("ps", 500)]
    assert len(graph.boxes) == 502


def _program(seed: int) -> str:
    """A loop of four turns in each of which every op multiplies by the number of the turn; no function is called both
    above and below what the loop itself runs."""
    chance = random.Random(seed)

    def lines(functions: Sequence[str], depth: int) -> list[str]:
        found = []
        for _ in range(chance.randint(1, 3)):
            call = f"{chance.choice(functions)}(h, i)" if functions else "h * i"
            shapes = ["h = h * i", f"h = {call}", f"h = {call} * i"]
            if depth:
                shapes += ["if i % 2:\n    h = h * i\nelse:\n    h = (h * i).mul(i)", f"if i != 2:\n    h = {call}"]
                shapes += [f"for j in range({chance.choice([2, 3])}):\n    h = {call}\n    h = h.mul(i)"]
                shapes += [f"h = [g for g in ({call}, h * i)][{chance.choice([0, 1])}]", f"a, h = {call}, h * i"]
            found += chance.choice(shapes).split("\n")
        return found

    def block(head: str, body: list[str]) -> str:
        return "\n    ".join([head, *body]) + "\n"

    functions: list[str] = []
    text = "import torch\nh = torch.tensor(0.5, requires_grad=True)\n"
    for name in "fgk"[: chance.randint(0, 3)]:
        text += block(f"def {name}(h, i):", [*lines(functions, 1), "return h"])
        functions.append(name)
    own = ["h = h.mul(i)", *lines(functions, 1)]
    own = [*lines(functions, 0)[:1], "h = h.mul(i)", *lines([], 1)] if chance.random() < 0.5 else own
    return text + block("for i in (1.0, 2.0, 3.0, 4.0):", own) + "h.backward()\n"


@pytest.mark.parametrize("seed", range(12))
def test_a_turn_holds_what_ran_in_it_and_nothing_else(seed: int) -> None:
    trace = engine.run(_program(seed))
    graph = view(trace)
    parents = {group.id: group for group in graph.groups}
    [loop] = [group for group in top(graph) if group.title.startswith("for i in")]
    assert loop.repeat == 4
    ops = {op.id: op for op in trace.ops}
    for box in graph.boxes:
        if box.kind != "op" or box.op is None or not (numbers := _numbers(ops[box.op])):
            continue
        at = parents[box.group or ""]
        while at.parent != loop.id:
            at = parents[at.parent or ""]
        assert float(at.title) == numbers[0], (_program(seed), box.name)


def _numbers(op: Op) -> list[float]:
    return [float(given.text) for given in op.arguments if given.text]
