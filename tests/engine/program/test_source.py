"""The program's source: places in code points, look-ups by place, edits that leave the rest alone."""

import ast
from time import process_time

import pytest

from engine.program.edits import applied, insertion
from engine.program.names import dotted
from engine.program.source import Source, source_of
from engine.program.spans import Lines, code_points, holds, lines_of
from engine.program.tree import MOST_CHARACTERS, defined_in
from engine.trace import Span


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(line=line, column=column, end_line=end_line, end_column=end_column)


def call(source: Source, name: str) -> ast.Call:
    return next(each for each in source.calls if ast.unparse(each.func).endswith(name))


# Lines and columns


def test_lines_are_counted_as_the_parser_counts_them() -> None:
    code = "a = 1\r\nb = '\u2028\x85'\rc = 2\n\x0c\nd = 3\n"
    assert lines_of(code) == ["a = 1", "b = '\u2028\x85'", "c = 2", "\x0c", "d = 3", ""]
    assert [statement.lineno for statement in ast.parse(code).body] == [1, 2, 3, 5]
    assert Source(code).text(ast.parse(code).body[3]) == "d = 3"


@pytest.mark.parametrize(("code", "count"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb", 2)])
def test_an_end_of_line_at_the_end_begins_no_line(code: str, count: int) -> None:
    assert Lines(code).count == count


@pytest.mark.parametrize("before", ["", "名", "é", "🙂", "👩‍👩‍👧", "\t", "a\t名🙂"])
def test_columns_count_code_points(before: str) -> None:
    line = f"x = '{before}', y.sum()"
    offset = len(line[: line.index("y")].encode())
    assert Lines(line).column(1, offset) == code_points(line, offset) == line.index("y")
    source = Source(line)
    assert source.text(call(source, "sum")) == "y.sum()"
    assert source.at(source.span(call(source, "sum"))) is call(source, "sum")


def test_a_column_past_the_end_or_on_no_line_is_given_back_or_cut() -> None:
    lines = Lines("名前\nab")
    assert [lines.column(1, 100), lines.column(9, 3), lines.column(0, 3)] == [2, 3, 3]


def test_a_lone_surrogate_is_one_code_point() -> None:
    assert Lines("'\ud800' + y").column(1, 8) == code_points("'\ud800' + y", 8) == 6


# Text


def test_an_excerpt_is_by_code_point_and_on_one_line() -> None:
    source = Source("名 = f(α,\n      β)\n")
    assert source.excerpt(span(1, 4, 2, 8)) == "f(α, β)"
    assert source.written(span(1, 4, 2, 8)) == "f(α,\n      β)"
    assert source.excerpt(span(9, 0, 9, 1)) == ""
    assert source.excerpt(None) == ""


def test_an_excerpt_is_short_and_of_a_block_only_its_head() -> None:
    source = Source("for x in range(3):\n    print(x)\ny = [" + "1, " * 40 + "]\n")
    assert source.short(source.tree.body[0]) == "for x in range(3)"
    assert source.short(source.tree.body[1]) == "y = [...]"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("net.load_state_dict(checkpoint['state_dict'], strict=False)", "net.load_state_dict(...)"),
        ("torch.tensor((w * 2).tolist(), requires_grad=True)", "torch.tensor((...).tolist(), requires_grad=True)"),
        ("nn.Sequential(  # (the model\n    nn.Linear(2, 3),\n)", "nn.Sequential( nn.Linear(2, 3), )"),
        ("first.sum() * 0.5 - second.mean() * 0.25 + third[0]", "first.sum() * 0.5 - second.mean() * 0.25 + …"),
        ("d['a(b#'] + fun(another_one(1, 2, 3), 4444444444)", "d['a(b#'] + fun(another_one(...), 4444444444)"),
        ("a" * 60, "a" * 47 + "…"),
    ],
)
def test_an_excerpt_is_never_cut_inside_a_token(code: str, said: str) -> None:
    source = Source(code)
    assert source.short(source.tree.body[0]) == said


def test_a_span_holds_itself_and_what_lies_in_it() -> None:
    outer = span(1, 4, 3, 2)
    assert holds(outer, outer) and holds(outer, span(1, 4, 1, 9)) and holds(outer, span(2, 0, 2, 99))
    assert not holds(outer, span(1, 3, 1, 9)) and not holds(outer, span(2, 0, 3, 3))


# By place


CHAIN = "y = (\n    x.view(2, 3)\n    .transpose(0, 1)\n    # 然后\n    .sum()\n)\n"


def test_a_chain_of_methods_is_found_where_python_says_each_call_is() -> None:
    source = Source(CHAIN)
    code = compile(CHAIN, "<program>", "exec")
    places = {place for place in code.co_positions() if place[0] != place[1] or place[0] not in (None, 1)}
    found = {
        ast.unparse(node.func).rpartition(".")[2]
        for line, end_line, column, end_column in places
        if line and end_line and column is not None and end_column
        and (node := source.call_at(span(line, column, end_line, end_column))) is not None
    }  # fmt: skip
    assert found == {"view", "transpose", "sum"}
    assert source.text(call(source, "transpose")) == "x.view(2, 3)\n    .transpose(0, 1)"
    assert source.call_at(span(3, 5, 3, 20)) is call(source, "transpose")


def test_an_expression_wins_over_the_statement_it_is_alone_in() -> None:
    source = Source("x.backward()\nx = 1\n")
    assert isinstance(source.at(span(1, 0, 1, 12)), ast.Call)
    assert isinstance(source.at(span(2, 0, 2, 5)), ast.Assign)
    assert source.at(span(2, 0, 2, 4)) is None


NESTED = """import torch.nn as nn, os.path
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
async def train(model):
    for epoch in range(3):
        step = lambda: model(1)
        while True:
            if epoch:
                break
            else:
                model(2)
for step in range(2): pass
"""


def test_what_is_around_a_node() -> None:
    source = Source(NESTED)
    first, second = (each for each in source.calls if ast.unparse(each.func) == "model")
    assert [type(loop) for loop in source.loops(second)] == [ast.While, ast.For]
    assert source.in_loop(second) and not source.in_loop(first) and source.is_in_function(first)
    function = source.function(second)
    assert function is not None and function.name == "train"
    statement = source.statement(second)
    assert statement is not None and source.block(statement) == [statement]
    assert source.statement_on(13) is statement
    assert source.is_in_function_forward(5) and not source.is_in_function_forward(6)


def test_a_place_turns_with_the_loops_of_its_own_call() -> None:
    source = Source(NESTED)

    def heads(of: Source, span: Span) -> tuple[str, list[str]]:
        _, scope, loops = of.standing(span)
        return type(scope).__name__, [of.head_of(loop) for loop in loops]

    assert heads(source, span(13, 16, 13, 24)) == ("AsyncFunctionDef", ["while True", "for epoch in range(3)"])
    assert heads(source, span(8, 23, 8, 31)) == ("Lambda", []), "the loop that makes a function does not run it"
    assert heads(source, span(14, 12, 14, 20)) == ("NoneType", []), "what a loop goes over runs once"
    summed = Source("loss = sum((p - y) ** 2 for p, y in\n           zip(a, b))\n")
    assert heads(summed, span(1, 11, 1, 23)) == heads(summed, span(1, 7, 2, 21)) == (
        "NoneType", ["for p, y in zip(a, b)"],
    )  # fmt: skip


def test_functions_that_call_themselves_are_known_by_name() -> None:
    source = Source(CALLING)
    assert {each.name for each in source.recursive if not isinstance(each, ast.Lambda)} == {
        "power", "odd", "even", "forward", "fold",
    }  # fmt: skip


CALLING = """
def power(x, n):
    return x * power(x, n - 1)
def odd(n):
    return even(n - 1)
def even(n):
    return [odd(each) for each in n]
def relu(x):
    return torch.relu(x)
class Tree(nn.Module):
    def forward(self, tree):
        return self(tree[0])
    def fold(own, n):
        return own.fold(n - 1)
    def exp(self):
        return Tree(self.t.exp())
    def relu(self, x):
        return relu(x)
"""


def test_definitions_and_what_encloses_them() -> None:
    source = Source(NESTED)
    (square,) = source.classes("Square")
    forward = defined_in(square, "forward")
    assert forward is not None and defined_in(square, "backward") is None
    assert source.written(source.head(forward)) == "def forward(ctx, x):"
    assert source.enclosing(forward.body[0], ast.ClassDef) is square
    assert source.enclosing(square, ast.ClassDef) is source.enclosing(None, ast.ClassDef) is None


@pytest.mark.parametrize(
    ("call", "receiver"),
    [
        ("F.relu(x)", None),
        ("torch.linalg.norm(x)", None),
        ("x.relu()", "x"),
        ("(x + 1).sum(0)", "x + 1"),
        ("relu(x)", None),
        ("F_.relu(x)", "F_"),
    ],
)
def test_a_method_has_a_receiver_and_a_function_of_a_module_has_none(call: str, receiver: str | None) -> None:
    source = Source(f"import torch\nimport torch.nn.functional as F\n{call}\n")
    found = source.receiver(source.calls[0])
    assert receiver == (ast.unparse(found) if found is not None else None)


def test_names_that_are_bound() -> None:
    source = Source(NESTED)
    assert source.imported == {"nn", "os"}
    bound = {name for name in ("nn", "os", "path", "torch", "Square", "ctx", "train", "epoch") if source.is_bound(name)}
    assert bound == {"nn", "os", "Square", "ctx", "train", "epoch"}


def test_an_argument_stands_for_what_the_calls_give() -> None:
    source = Source(
        "class Fit:\n    def __init__(self, mover): mover.step()\n"
        "def train(opt): opt.step()\ndef tell(opt): opt.lr = 1\n"
        "def both(opt): opt.zero_grad()\n"
        "opt = make()\nother = opt\nFit(other)\ntrain(opt)\ntrain(opt)\ntell(options)\nboth(a)\nboth(b)\n"
    )
    owners = {ast.unparse(each): each for each in source.nodes if isinstance(each, ast.Attribute)}
    stands = {text: source.stands_for(dotted(each.value), each) for text, each in owners.items()}
    assert stands == {"mover.step": "opt", "opt.step": "opt", "opt.lr": "options", "opt.zero_grad": ""}


# Texts that are no programs


@pytest.mark.parametrize(
    "code", ["for x in\n  y = 1", "x = 1\0", "x = '\ud800'", "(" * 5000, "x" * (MOST_CHARACTERS + 1)]
)
def test_what_does_not_parse_has_lines_but_no_tree(code: str) -> None:
    source = Source(code)
    assert source.tree.body == [] and source.calls == [] and source.standing(span(1, 0, 1, 1)) == (None, None, [])
    assert source.at(span(1, 0, 1, 1)) is None and source.line(1)


def test_what_the_sandbox_did_not_parse_is_not_parsed_here() -> None:
    assert Source("x = 1", parsed_in_sandbox=False).tree.body == []
    assert Source("x = 1", parsed_in_sandbox=False).line(1) == "x = 1"


@pytest.mark.slow
def test_a_long_text_is_read_in_linear_time() -> None:
    line = "y = f('名前🙂', x).sum()\n"
    fastest = []
    for count in (400, 4_000):
        times = []
        for _ in range(3):  # the fastest: others on the machine slow all of them, and some more than others
            source = Source(line * count)
            start = process_time()
            assert all(source.call_at(source.span(each)) is each for each in source.calls)
            assert len({source.function(each) for each in source.calls}) == 1
            times.append(process_time() - start)
        fastest.append(min(times))
    assert fastest[1] < 40 * max(fastest[0], 0.005)
    one_line = Source("x = [" + "名, " * 30_000 + "]")
    start = process_time()
    assert one_line.at(span(1, 5, 1, 6)) is not None
    assert process_time() - start < 5


def test_a_text_has_one_source() -> None:
    assert source_of("x = 1 + 2") is source_of("x = 1 " + "+ 2")


# Edits


def edited(code: str, line: str) -> str:
    """The code with `pass` written after, before and over the statement on a line, one edit after the other."""
    source = Source(code)
    statement = next(each for each in source.tree.body if source.text(each) == line)
    return "|".join(
        applied(code, edits)
        for edits in (source.line_before(statement, "pass"), source.line_after(statement, "pass"), (source.replace(statement, "pass"),))
    )  # fmt: skip


def test_edits_use_the_line_ends_of_the_text() -> None:
    before, after, over = edited("a = 1\r\nb = 2\r\n", "b = 2").split("|")
    assert (before, after, over) == ("a = 1\r\npass\r\nb = 2\r\n", "a = 1\r\nb = 2\r\npass\r\n", "a = 1\r\npass\r\n")


def test_edits_on_a_last_line_without_an_end() -> None:
    before, after, over = edited("a = 1\nb = 2", "b = 2").split("|")
    assert (before, after, over) == ("a = 1\npass\nb = 2", "a = 1\nb = 2\npass", "a = 1\npass")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "{end}"])
def test_a_statement_moves_with_its_line(end: str, last: str) -> None:
    code = end.join(("a = '名'", "b = 2", "c = 3")) + last.format(end=end)
    source = Source(code)
    a, _, c = source.tree.body
    up, down = applied(code, source.moved(c, before=a)), applied(code, source.moved(a, after=c))
    assert [ast.unparse(each) for each in ast.parse(up).body] == ["c = 3", "a = '名'", "b = 2"]
    assert [ast.unparse(each) for each in ast.parse(down).body] == ["b = 2", "c = 3", "a = '名'"]
    assert set(up.replace(end, "")) == set(code.replace(end, "")) == set(down.replace(end, ""))


def test_nothing_is_moved_where_lines_are_shared() -> None:
    source = Source("a = 1; b = 2\nif a: c = 3\n")
    a, b, branch = source.tree.body
    assert source.moved(a, after=branch) == source.moved(b, before=a) == source.line_before(b, "pass") == ()
    assert source.indent(a, "with x:") == ()


def test_a_statement_of_several_lines_goes_under_a_head() -> None:
    code = "if 1:\n    y = f(\n        '名'\n    )\n"
    source = Source(code)
    statement = source.statement_on(3)
    assert statement is not None
    assert applied(code, source.indent(statement, "with g():")) == (
        "if 1:\n    with g():\n        y = f(\n            '名'\n        )\n"
    )


@pytest.mark.parametrize(
    ("code", "added", "removed"),
    [
        ("f(a, 名=b)", "f(a, 名=b, z)", "f(名=b)"),
        ("f(a)", "f(a, z)", "f()"),
        ("f('🙂',\n  *a)", "f('🙂',\n  *a, z)", "f(*a)"),
        ("f()", "f(z)", ""),
    ],
)
def test_arguments_come_and_go_with_their_comma(code: str, added: str, removed: str) -> None:
    source = Source(code)
    node = source.calls[0]
    assert applied(code, (source.argument_added(node, "z"),)) == added
    if removed:
        assert applied(code, source.argument_removed(node, node.args[0])) == removed


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("y = x", "y = x.m()"),
        ("y = a + b", "y = (a + b).m()"),
        ("y = (a + b)", "y = (a + b).m()"),
        ("y = -x", "y = (-x).m()"),
    ],
)
def test_a_method_is_called_on_the_whole_expression(code: str, after: str) -> None:
    source = Source(code)
    assert applied(code, source.method(source.bindings[0].value, ".m()")) == after


def test_the_order_in_which_edits_are_given_does_not_matter() -> None:
    code = "名 = 1\nb = 2"
    edits = (insertion(1, 0, "<"), insertion(2, 5, ">"), insertion(1, 5, "|"))
    assert applied(code, edits) == applied(code, edits[::-1]) == "<名 = 1|\nb = 2>"


def test_an_argument_is_what_the_only_call_gives_or_else_its_default() -> None:
    source = Source("def f(a=1, /, b=2, *, c=3): pass\nclass C:\n    def __init__(self, n): pass\nf(7)\nC(5)\n")
    given = {name: ast.unparse(node) for name in "bnc" if (node := source.given(name)) is not None}
    assert given == {"b": "2", "n": "5"}


def test_a_method_of_something_else_is_no_call_of_a_function_of_its_name() -> None:
    source = Source("def train(model):\n    model.train()\nclass C:\n    def go(self): pass\ntrain(m)\nC().go()\n")
    assert [source.text(call) for each in source.functions for call in source.calls_to(each)] == [
        "train(m)",
        "C().go()",
    ]


def test_what_a_name_is_assigned_beside_others_is_known_where_each_has_its_own() -> None:
    source = Source("a, b = 1, 2\n*c, d = 3, 4, 5\n")
    assert [[ast.unparse(value) for value in source.values(name)] for name in "abcd"] == [["1"], ["2"], [], []]


def test_what_runs_before_in_a_function_goes_by_its_own_lines_and_its_one_call() -> None:
    code = Source("def f():\n    a = 1\n    b = 2\nc = 3\nf()\nd = 4\n")
    a, b, c, d = sorted(
        (node for node in ast.walk(code.tree) if isinstance(node, ast.Assign)), key=lambda one: one.lineno
    )
    assert [code.runs_before(*pair) for pair in ((a, b), (c, a), (a, d))] == [True, True, True]
    assert [code.runs_before(*pair) for pair in ((b, a), (a, c), (d, a))] == [False, False, False]
