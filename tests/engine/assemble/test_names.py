"""Tensors, modules and optimizers carry the names that the program gives them, also in its functions."""

import pytest

from engine.local import LocalEngine
from engine.request import RunRequest
from engine.trace import Program, Trace

HEAD = "import copy, torch\nfrom torch import nn\n"


def run(engine: LocalEngine, program: str) -> Trace:
    return engine.run(RunRequest(program=Program(code=HEAD + program)))


def names(trace: Trace, op: str) -> list[tuple[str, ...]]:
    """Names of the first output of each op of that name."""
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    return [tensors[ran.outputs[0]].names for ran in trace.ops if ran.name == op]


def test_only_the_result_of_a_model_has_the_name_it_is_assigned_to(engine: LocalEngine) -> None:
    trace = run(engine, "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())\nout = net(torch.ones(2))\n")
    assert names(trace, "linear") == [()]
    assert names(trace, "relu") == [("out",)]


def test_what_a_function_writes_on_its_way_is_not_what_it_gave(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "w = torch.ones(4, requires_grad=True)\n"
        "for _ in range(2):\n"
        "    (3 * w).sum().backward()\n"
        "    n = nn.utils.clip_grad_norm_([w], 1.0)\n"
        "    print(n * 1)\n",
    )
    assert names(trace, "clamp") == [(), ()]
    called = {tensor.id for tensor in trace.tensors if "n" in tensor.names}
    named = [op for op in trace.ops if called.intersection(op.outputs)]
    assert [op.name for op in named] == ["linalg_vector_norm", "linalg_vector_norm"]
    assert all(op.called == op.name for op in trace.ops if op.span is not None and op.span.line == 6)


def test_a_sum_has_its_name_when_it_is_whole(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "w = torch.ones(2, requires_grad=True)\n"
        "for _ in range(2):\n"
        "    total = sum(part ** 2 for part in w.unbind())\n"
        "    total = sum(part ** 2 for part in w.unbind())\n",
    )
    assert names(trace, "add") == [(), ("total",)] * 4
    assert [op.called for op in trace.ops if op.name == "add"] == ["add", ""] * 4


def test_long_expressions_that_begin_alike_are_told_by_both_ends(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "first, second, third = torch.ones(3, 2, requires_grad=True).unbind()\n"
        "loss = first.sum() + second.pow(2).sum() + third.prod()\n"
        "other = first.sum() * (second.sum() + third.sum())\n",
    )
    assert [op.called for op in trace.ops if op.name == "add"] == [
        "first.sum…econd.pow(2).sum()",
        "first.sum…m() + third.prod()",
        "",
    ]


def test_what_a_loader_does_is_not_called_like_what_is_gone_through(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "xs = torch.arange(4.0)\n"
        "loader = DataLoader(TensorDataset(xs, torch.ones(4)), batch_size=2)\n"
        "for x, y in loader:\n"
        "    z = x * y\n"
        "for x, y in DataLoader(list(zip(xs, range(4))), batch_size=4):\n"
        "    for row in x.T:\n"
        "        z = row[0] if row.dim() else row\n"
        "first = next(iter(loader))\n",
    )
    called = [op.called for op in trace.ops if op.name in ("getitem", "stack", "tensor", "T", "mul")]
    assert called[:7] == ["xs[0]", "getitem", "xs[1]", "getitem", "stack", "stack", ""]
    assert called[14:] == ["stack", "tensor", "", "xs[0]", "getitem", "xs[1]", "getitem", "stack", ""]
    assert [op.called for op in trace.ops if op.name == "unbind"] == ["unbind", "unbind"]


def test_a_result_put_into_a_list_later_keeps_the_name_it_was_made_with(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "x = torch.ones(2, requires_grad=True)\nhistory, weights = [], []\nfor i in range(2):\n"
        "    w = torch.zeros(2, requires_grad=True)\n    weights.append(w)\n"
        "    loss = (x * w).sum()\n    history.append(loss)\n",
    )
    assert names(trace, "sum") == [("loss", "history[0]"), ("loss", "history[1]")]
    assert names(trace, "zeros") == [("weights[0]", "w"), ("weights[1]", "w")], "leaves live on in their list"


def test_what_a_layer_makes_before_its_result_is_not_called_like_it(engine: LocalEngine) -> None:
    trace = run(engine, "lstm = nn.LSTM(2, 3)\nout, (h, c) = lstm(torch.ones(4, 1, 2))\n")
    assert [op.called for op in trace.ops if op.name in ("zeros", "lstm")] == ["zeros", "zeros", ""]


def test_a_call_that_fails_names_nothing(engine: LocalEngine) -> None:
    trace = run(engine, "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(4, 2))\nout = net(torch.ones(2))\n")
    assert names(trace, "relu") == [()]
    assert trace.ops[-1].raised


def test_each_turn_of_a_loop_names_its_own_result(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nh = torch.ones(2)\nfor _ in range(3):\n    h = net(h)\n",
    )
    assert names(trace, "tanh") == [("h",)] * 3


def test_what_a_constructor_computes_has_not_the_name_of_the_layer(engine: LocalEngine) -> None:
    trace = run(engine, "emb = nn.Embedding(7, 3, padding_idx=0)\nout = emb(torch.tensor([1]))\n")
    assert names(trace, "getitem") == [()]
    assert names(trace, "embedding") == [("out",)]


def test_a_call_that_calls_the_program_names_only_what_it_gives(engine: LocalEngine) -> None:
    trace = run(engine, "h = torch.autograd.functional.hessian(lambda a: (a ** 3).sum(), torch.tensor([1.0, 2.0]))\n")
    assert {record.shape for record in trace.tensors if "h" in record.names} == {(2, 2)}


@pytest.mark.parametrize("before", ["\x0c\n", "text = 'a\u2028b'\n", "text = 1\r\n", "text = 1\r"])
def test_a_name_is_found_below_any_line_end(engine: LocalEngine, before: str) -> None:
    trace = run(engine, f"{before}key, w = '名前', torch.ones(2)\n")
    assert names(trace, "ones") == [("w",)]


def test_the_parts_of_a_nested_result_have_names(engine: LocalEngine) -> None:
    rnn = "rnn, x = nn.LSTM(2, 3), torch.ones(4, 1, 2)\n"
    tensors = {}
    for target in ("out, (h, c)", "out, state"):
        trace = run(engine, f"{rnn}{target} = rnn(x)\n")
        (op,) = (op for op in trace.ops if op.name == "lstm")
        records = {record.id: record for record in trace.tensors}
        tensors[target] = [records[output].names[0] for output in op.outputs]
    assert tensors == {"out, (h, c)": ["out", "h", "c"], "out, state": ["out", "state[0]", "state[1]"]}


def test_what_is_copied_into_a_part_of_a_tensor_is_not_called_like_it(engine: LocalEngine) -> None:
    trace = run(engine, "y, kept = torch.zeros(3), {}\ny[1] = torch.ones(())\nkept['y'] = torch.ones(2)\n")
    assert names(trace, "ones") == [(), ("kept['y']",)]
    assert names(trace, "setitem") == [("y",)]


def test_a_layer_does_not_give_its_name_to_what_it_is_made_of(engine: LocalEngine) -> None:
    trace = run(engine, "def make():\n    layer = nn.Linear(2, 2)\n    return layer(torch.ones(2))\nmake()\n")
    assert {tensor.names for tensor in trace.tensors if tensor.role == "parameter"} == {
        ("layer.weight",),
        ("layer.bias",),
    }
    assert names(trace, "empty") == [(), ()]


@pytest.mark.parametrize(
    ("program", "paths"),
    [
        ("    net = nn.Sequential(nn.Linear(2, 1))\n    net(x)\n", {"net", "net.0"}),
        ("    a, b = nn.Linear(2, 2), nn.Linear(2, 1).double().float()\n    b(a(x))\n", {"a", "b"}),
        ("    a = nn.Linear(2, 2)\n    b = copy.deepcopy(a)\n    b(a(x))\n", {"a", "b"}),
        ("    self_made = Net()\n    self_made(x)\n", {"self_made", "self_made.inner"}),
        ("    build()(x)\n    other = nn.Linear(2, 3)\n    other(x)\n", {"(Linear)", "other"}),
        ("    pair = [Net(), Net()]\n    [one(x) for one in pair]\n", {"(Net)", "(Net).inner"}),
    ],
)
def test_modules_of_a_function_have_its_names_where_they_are_certain(
    engine: LocalEngine, program: str, paths: set[str]
) -> None:
    classes = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        return self.inner(x)\ndef build():\n    return nn.Linear(2, 1)\n"
    )
    trace = run(engine, f"{classes}def main():\n    x = torch.ones(2)\n{program}main()\n")
    assert {module.path for module in trace.modules} == paths


def test_an_lstm_names_its_three_results(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "cells = nn.LSTM(2, 3)\nout, pair = cells(torch.ones(4, 1, 2))\nout, (h, c) = cells(torch.ones(4, 1, 2))\n",
    )
    tensors = {tensor.id: tensor.names for tensor in trace.tensors}
    first, second = (op.outputs for op in trace.ops if op.name == "lstm")
    assert [tensors[tensor] for tensor in first] == [("out",), ("pair[0]",), ("pair[1]",)]
    assert [tensors[tensor] for tensor in second] == [("out",), ("h",), ("c",)]


def test_a_method_call_over_several_lines_names_its_result(engine: LocalEngine) -> None:
    trace = run(engine, "x = torch.ones(2)\ny = (x\n     .exp()\n     .sum())\n")
    assert names(trace, "exp") == [()]
    assert names(trace, "sum") == [("y",)]


def test_an_optimizer_of_a_function_has_its_name_unless_several_share_it(engine: LocalEngine) -> None:
    train = (
        "def train(given):\n    w = torch.ones(2, requires_grad=True)\n    own = torch.optim.SGD([w], 0.1)\n"
        "    w.sum().backward()\n"
    )
    trace = run(engine, train + "    own.step()\n    given(w).step()\ntrain(lambda w: torch.optim.Adam([w]))\n")
    assert [update.variable for update in trace.updates if update.kind == "step"] == ["own", None]


def test_what_a_hook_replaces_has_not_the_name_of_the_call(engine: LocalEngine) -> None:
    hook = "layer = nn.Linear(2, 1)\nlayer.register_forward_hook(lambda module, inputs, output: output * 2)\n"
    trace = run(engine, f"{hook}out = layer(torch.ones(2))\nlater = out + 1\n")
    assert "out" not in names(trace, "linear")[0]
    assert names(trace, "mul") == [("out",)]


def test_what_gives_no_tensor_names_none(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "net = nn.Linear(2, 1)\n"
        "net.double()\n"
        "kept = net.state_dict()\n"
        "drawn = torch.distributions.Normal(torch.zeros(2), 1.0)\n"
        "wide = torch.ones(2).double()\n",
    )
    made = {tensor for op in trace.ops if op.span is not None and op.span.line in (4, 5, 6) for tensor in op.outputs}
    named = {name for tensor in trace.tensors if tensor.id in made for name in tensor.names}
    assert named.isdisjoint({"kept", "drawn"})
    assert all(op.called == op.name for op in trace.ops if op.span is not None and op.span.line in (4, 5))
    assert names(trace, "double")[-1] == ("wide",)


def test_what_python_compares_and_goes_through_is_not_what_the_call_gave(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "def of(scores):\n"
        "    best = max(scores)\n"
        "    order = sorted(scores)\n"
        "    pairs = zip(torch.ones(2), [best, 2.0])\n"
        "    rows = list(torch.ones(2))\n"
        "    return [one * number for one, number in pairs] + rows + order\n"
        "made = of([torch.tensor(3.0), torch.tensor(1.0)])\n",
    )
    compared = [op for op in trace.ops if op.name in ("lt", "gt")]
    assert len(compared) > 1
    assert all(op.inside for op in compared)
    named = {name for tensor in trace.tensors for name in tensor.names}
    assert "rows[0]" in named
    assert named.isdisjoint({"order", "pairs[0]"})


def test_a_name_that_stands_for_no_tensor_names_none(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)\n"
        "handle = torch.autograd.graph.register_multi_grad_hook([a, b], print)\n"
        "fine = torch.autograd.gradcheck(torch.exp, (a.double(),))\n"
        "number = a.sum().item()\n"
        "def hooked():\n"
        "    inner = torch.autograd.graph.register_multi_grad_hook([a, b], print)\n"
        "hooked()\n"
        "total = 0\n"
        "for part in (a * 2, b * 3):\n"
        "    total += part\n",
    )
    named = {name for tensor in trace.tensors for name in tensor.names}
    assert named.isdisjoint({"handle", "fine", "inner"})
    assert all(op.inside for op in trace.ops if op.name == "view_as")
    assert not any(op.inside for op in trace.ops if op.name == "item")
    assert "total" not in names(trace, "mul")[0]


def test_a_result_has_no_name_that_means_what_it_was_made_of(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "def centred(x):\n"
        "    return x - x.mean()\n"
        "def scaled(x):\n"
        "    return x * 2\n"
        "x = torch.ones(2)\n"
        "y = scaled(centred(x))\n"
        "x = x + 1\n",
    )
    assert names(trace, "sub") == [()]
    assert names(trace, "add") == [("x",)]


def test_what_a_function_returns_has_the_name_of_the_call_in_each_turn(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x * 3\n"
        "def squared(x):\n"
        "    return x ** 2\n"
        "def loss_of(x):\n"
        "    mean = squared(x).mean()\n"
        "    return mean\n"
        "double = lambda x: x + x\n"
        "def learn(criterion):\n"
        "    for _ in range(2):\n"
        "        y = net(x)\n"
        "        z = double(y)\n"
        "        loss = criterion(z)\n"
        "        loss.backward()\n"
        "net, x = Net(), torch.ones(2, requires_grad=True)\n"
        "other = loss_of(x)\n"
        "learn(loss_of)\n",
    )
    assert names(trace, "mul") == [("y",)] * 2
    assert [given[0] for given in names(trace, "add")] == ["z", "z"]
    assert names(trace, "pow") == [()] * 3
    assert names(trace, "mean") == [("other", "mean"), ("loss", "mean"), ("loss", "mean")]


def test_what_is_made_of_what_a_function_returned_does_not_name_that(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "import functools\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x * 3\n"
        "def double(x):\n"
        "    return x + x\n"
        "def both(x):\n"
        "    return x - 1, x\n"
        "def first(x):\n"
        "    return x / 2\n"
        "net, x = Net(), torch.ones(2)\n"
        "net.register_forward_hook(lambda module, given, gave: gave.exp())\n"
        "for _ in range(2):\n"
        "    a = net(x)\n"
        "    b = list(map(double, [x, x]))\n"
        "    c = both(x)\n"
        "    d = functools.reduce(lambda p, q: first(p), [x, x, x])\n"
        "    e = max([x], key=lambda p: double(p).sum())\n",
    )
    assert not {"a", "c"} & {name for op in ("mul", "sub") for given in names(trace, op) for name in given}
    assert not {"b", "d", "e"} & {name for op in ("add", "div") for given in names(trace, op)[:2] for name in given}


def test_a_result_has_no_name_that_is_read_where_it_is_made(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "def halved(g):\n"
        "    return g * 2 + 3 * g\n"
        "def whole(g):\n"
        "    return g / 2\n"
        "g = torch.ones(2)\n"
        "g = whole(halved(g))\n",
    )
    assert names(trace, "add") == [()]
    assert names(trace, "div") == [("g",)]


def test_a_leaf_made_inside_a_call_has_the_name_that_the_function_in_it_knows_it_by(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "def f(v):\n"
        "    return (v ** 2).sum()\n"
        "v = torch.ones(2, requires_grad=True)\n"
        "g = torch.func.grad(f)(v)\n"
        "j = torch.func.jacrev(lambda u: u ** 3)(v)\n"
        "h = torch.autograd.functional.jacobian(lambda q: q * 2, v.detach())\n"
        "(g.sum() + j.sum()).backward()\n",
    )
    names = {tensor.id: tensor.names for tensor in trace.tensors}
    leaves = [names[node.variable] for node in trace.nodes if node.variable is not None]
    assert sorted(leaves) == [("q",), ("u",), ("v",), ("v",)]


def test_modules_in_a_container_are_named_by_their_place_in_it(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "net = torch.nn.Linear(1, 1, bias=False)\n"
        "twins = [torch.nn.Linear(1, 1, bias=False) for _ in range(2)]\n"
        "heads = {'a': torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False))}\n"
        "for twin in twins:\n"
        "    heads['a'](twin(torch.ones(1, 1))).backward()\n"
        "both = (net, twins[0])\n",
    )
    assert [module.path for module in trace.modules] == ["twins[0]", "heads['a']", "heads['a'].0", "twins[1]", "net"]
    names = {tensor.names[0] for tensor in trace.tensors if tensor.role == "parameter"}
    assert names == {"net.weight", "twins[0].weight", "twins[1].weight", "heads['a'].0.weight"}


def test_modules_that_a_loop_calls_by_one_name_are_named_by_where_the_model_holds_them(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "blocks = nn.ModuleList(nn.Sequential(nn.Linear(2, 2)) for _ in range(2))\n"
        "first, second = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "head = blocks[0][0]\n"
        "x = torch.ones(1, 2)\n"
        "for block in blocks:\n"
        "    x = block(x)\n"
        "for layer in (first, second):\n"
        "    x = layer(x)\n"
        "for turn in range(2):\n"
        "    fresh = nn.Linear(2, 2)\n"
        "    x = fresh(head(x))\n",
    )
    assert {module.path: module.calls for module in trace.modules} == {
        "blocks": 0, "blocks.0": 1, "blocks.0.0": 3, "blocks.1": 1, "blocks.1.0": 1,
        "first": 1, "second": 1, "fresh": 1,
    }  # fmt: skip
    ids = {module.path: module.id for module in trace.modules}
    assert {module.path: module.parent for module in trace.modules if module.parent} == {
        "blocks.0": ids["blocks"], "blocks.0.0": ids["blocks.0"],
        "blocks.1": ids["blocks"], "blocks.1.0": ids["blocks.1"],
    }  # fmt: skip
    told = [module.id for module in trace.modules]
    assert all(told.index(module.parent) < told.index(module.id) for module in trace.modules if module.parent)


def test_what_moves_or_copies_a_module_names_no_tensor_like_it(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "class Kept:\n"
        "    def __init__(self, net):\n"
        "        self.net = net\n"
        "        self.net.to('cpu')\n"
        "        self.own = copy.deepcopy(net)\n"
        "net = nn.Linear(2, 1)\n"
        "net.weight.requires_grad_(False)\n"
        "net.to('cpu')\n"
        "old = copy.deepcopy(net)\n"
        "Kept(net)\n"
        "(net(torch.ones(1, 2)) - old(torch.ones(1, 2))).backward()\n",
    )
    assert {name for tensor in trace.tensors for name in tensor.names}.isdisjoint(
        {"net", "self.net", "self.own", "old"}
    )


def test_parameters_that_a_loop_calls_alike_are_told_by_their_modules(engine: LocalEngine) -> None:
    trace = run(
        engine,
        "net = nn.Linear(2, 1)\naverage = copy.deepcopy(net)\n"
        "for p in average.parameters():\n    p.requires_grad_(False)\n"
        "with torch.no_grad():\n"
        "    for p, q in zip(average.parameters(), net.parameters()):\n        p.mul_(0.9).add_(q, alpha=0.1)\n"
        "    w = net.weight\n    w *= 2\n",
    )
    written = [given[0] for op in ("mul_", "imul") for given in names(trace, op)]
    assert written == ["average.weight", "average.bias", "net.weight"]


@pytest.mark.parametrize(
    ("loop", "called"),
    [
        ("for x, y in loader:\n    (x * y).sum()", [("x",), ("y",)]),
        ("for i, (x, y) in enumerate(loader):\n    (x * y).sum()", [("x",), ("y",)]),
        # not one name for each
        ("def go():\n    for batch in loader:\n        batch[0].sum()\ngo()", [("batch[0]",), ()]),
        (
            "def go():\n    for i, batch in enumerate(loader):\n        x, y = batch\n        x.sum()\ngo()",
            [("x",), ()],
        ),
        # the names are those of two loaders
        ("def go():\n    for x, z in zip(loader, [1]):\n        pass\ngo()", [(), ()]),
    ],
)
def test_what_a_loader_hands_out_is_called_as_the_loop_calls_it(
    engine: LocalEngine, loop: str, called: list[tuple[str, ...]]
) -> None:
    loader = "from torch.utils.data import DataLoader, TensorDataset\nloader = DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4, 1)), 2)\n"
    trace = run(engine, f"{loader}{loop}\n")
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    assert [tensors[tensor].names for tensor in trace.batches[0].tensors] == called


@pytest.mark.parametrize(("use", "called"), [("x", ("x",)), ("first, = x", ())])
def test_what_may_be_a_list_of_one_is_not_called_like_the_tensor_in_it(
    engine: LocalEngine, use: str, called: tuple[str, ...]
) -> None:
    program = "def go():\n    for x in torch.utils.data.DataLoader(torch.ones(4, 2), 2):\n        " + use + "\ngo()\n"
    trace = run(engine, program)
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    assert [tensors[tensor].names for tensor in trace.batches[0].tensors] == [called]


@pytest.mark.parametrize(
    ("loop", "is_called"),
    [
        ("for row in rows:", True),
        ("for i, row in enumerate(rows):", True),
        ("for row in rows.unbind(0):", True),
        ("for i in range(int(max(rows[:, 0]))):\n    row = rows[i]", False),
        ("for row in [sum(rows)]:", False),
    ],
)
def test_the_rows_that_a_loop_goes_through_are_called_as_it_calls_them(
    engine: LocalEngine, loop: str, is_called: bool
) -> None:
    trace = run(engine, f"rows = torch.ones(3, 2)\nkeep = []\n{loop}\n    keep.append(row * 2)\nrow = None\n")
    outputs = {output for op in trace.ops if op.name == "unbind" for output in op.outputs}
    told = [tensor.names for tensor in trace.tensors if tensor.id in outputs]
    assert told
    assert all(("row" in given) == is_called for given in told)
