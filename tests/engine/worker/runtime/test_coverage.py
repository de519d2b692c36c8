"""Lines that never ran, beside what Python's own tracer saw."""

import ast
import dis
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from msgspec.structs import replace

from engine import DEFAULT_LIMITS
from engine.worker.runtime.coverage import Lines
from engine.worker.runtime.program_name import PROGRAM
from tests.engine.worker.forked import record

EVERYTHING = '''"""Not a statement that runs."""
from __future__ import annotations

def marked(function):
    return function

@marked
def called(x):
    """Nor is this."""
    global total
    if x > 3:
        return 1
    elif x > 2:
        total = 0
    else:
        total = (
            2 +
            x
        )
    return total
    print("unreachable")

@marked
def never(a,
          b):
    return (a +
            b)

class Shape:
    """Nor this."""
    sides: int
    def area(self): return 1
    def empty(self):
        ...

try:
    Shape().area()
    raise KeyError("k")
except ValueError as error:
    print(error)
except KeyError:
    caught = True
else:
    caught = False
finally:
    done = 1

def numbers():
    yield 1
    yield 2

first = next(numbers())
for i in range(3):
    if i > 5:
        break
    continue
    i = 9
else:
    ended = 1
match first:
    case 4:
        ended = 2
    case _: ended = 3
async def waits():
    async with None:
        pass
with open(__import__("os").devnull) as nothing:
    nothing.read()
if __name__ == "__main__":
    called(1)
if 0:
    dead = 1
while True: break
if ended == 1: ended = 5; done = 6
square = lambda n: n * n
assert square(2) == 4, print("never")
del done
raise ValueError(3)
after = 9
'''


def lines_by_tracer(source: str) -> set[int]:
    """Lines of statements, less those of which Python's tracer told; in a process of its own."""
    code = compile(source, PROGRAM, "exec", dont_inherit=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        child = os.fork()
        if child == 0:
            seen: set[int] = set()

            def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
                if frame.f_code.co_filename != PROGRAM:
                    return None
                seen.add(frame.f_lineno if event == "line" else 0)
                return trace

            os.chdir(folder)
            warnings.resetwarnings()  # those of a program, not of a test
            sys.settrace(trace)
            try:
                exec(code, {"__name__": "__main__"})
            except BaseException:
                pass
            finally:
                sys.settrace(None)
                path.write_text(" ".join(map(str, seen)))
                os._exit(0)
        os.waitpid(child, 0)
        return _statements(source) - {int(line) for line in path.read_text().split()}


def _statements(source: str) -> set[int]:
    """First lines of the statements that have code."""
    tree = ast.parse(source)
    silent = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Global | ast.Nonlocal) and id(node) not in silent:
            decorators = getattr(node, "decorator_list", None)
            found.add((decorators[0] if decorators else node).lineno)
    return found


def test_every_kind_of_statement() -> None:
    lines = record(EVERYTHING).lines_not_run
    assert set(lines) == lines_by_tracer(EVERYTHING) - {2}  # an import from the future does nothing when it runs
    text = EVERYTHING.splitlines()
    assert [text[line - 1].strip() for line in lines] == [
        "return 1",
        "total = 0",
        'print("unreachable")',
        "return (a +",
        "...",
        "print(error)",
        "caught = False",
        "yield 2",
        "break",
        "i = 9",
        "ended = 2",
        "async with None:",
        "pass",
        "dead = 1",
        "after = 9",
    ]


def test_marks_change_nothing_the_program_can_see() -> None:
    source = "def f(n):\n    'doc'\n    return sorted(locals()) if n else f(1)\nclass A:\n    'doc'\n    b = 2\n"
    source += "print(f(0), f.__doc__, A.__doc__, sorted(vars(A)), sorted(globals()))\n"
    plain: dict[str, object] = {"said": [], "__name__": "m"}
    marked: dict[str, object] = {"said": [], "__name__": "m"}
    source = source.replace("print(", "said.append((").replace("globals()))", "globals())))")
    exec(compile(source, PROGRAM, "exec"), plain)
    exec(Lines().compile(source), marked)
    assert marked["said"] == plain["said"]
    assert plain["said"]


@pytest.mark.parametrize(
    "looks", ["import dis", "print(f.__code__.co_names)", "import sys; sys.settrace(None)", "import marshal"]
)
def test_a_program_that_looks_at_its_own_code_has_it_as_written(looks: str) -> None:
    source = f"def f():\n    return 1\n{looks}\n"
    lines = Lines()
    code = lines.compile(source)
    assert code.co_code == compile(source, PROGRAM, "exec").co_code
    assert lines.not_run() == ()


@pytest.mark.slow
def test_a_loop_stopped_by_its_time_says_what_it_never_reached() -> None:
    """Without a supervisor, which may end a worker that has no processor before it has said so."""
    stopped = record("i = 0\nwhile True:\n    i += 1\nprint(i)\n", replace(DEFAULT_LIMITS, wall_s=0.3))
    assert stopped.status == "limited"
    assert stopped.lines_not_run == (4,)


def test_threads_and_deep_recursion_are_seen() -> None:
    made = record(
        "import threading\ndef work():\n    done.append(1)\n    return\n    x = 1\ndone = []\n"
        "t = threading.Thread(target=work)\nt.start()\nt.join()\n"
        "def deep(n):\n    return deep(n + 1)\ntry:\n    deep(0)\nexcept RecursionError:\n    ok = True\n"
    )
    assert made.lines_not_run == (5,)


@pytest.mark.slow
def test_a_program_too_deep_for_a_tree_runs_as_it_is() -> None:
    for terms, lines in ((500, (3,)), (1500, ())):
        made = record("y = " + "+".join(["1"] * terms) + "\nif y < 0:\n    y = 0\n")
        assert (made.status, made.lines_not_run) == ("ok", lines)


def test_a_syntax_error_is_said_as_plain_python_says_it() -> None:
    with pytest.raises(SyntaxError, match="'return' outside function"):
        Lines().compile("x = 1\nreturn x\n")


PROGRAMS = sorted((Path(__file__).parents[3] / "programs").glob("*.py"))
NOT_COMPARED = ("thread", "__future__", "torch.compile", "torch.jit")
"""Another thread has no tracer, and compilers of PyTorch do things to one that the program does not."""


@pytest.mark.parametrize("path", PROGRAMS[::8], ids=lambda path: path.stem)
def test_programs_of_the_corpus(path: Path) -> None:
    source = path.read_bytes().decode()
    if any(word in source for word in NOT_COMPARED):
        pytest.skip("Python's tracer cannot tell")
    try:
        expected = lines_by_tracer(source)
    except SyntaxError:
        expected = set()
    assert set(record(source).lines_not_run) == expected


def test_a_mark_stands_where_its_statement_does() -> None:
    """A stopped program may be at one, and is then shown there."""
    found: set[str] = set()
    todo = [Lines().compile(EVERYTHING)]
    text = EVERYTHING.splitlines()
    while todo:
        code = todo.pop()
        todo += [one for one in code.co_consts if isinstance(one, CodeType)]
        for instruction in dis.get_instructions(code):
            place = instruction.positions
            if instruction.opname == "STORE_ATTR" and place is not None and place.lineno is not None:
                assert place.end_lineno == place.lineno
                found.add(text[place.lineno - 1][place.col_offset : place.end_col_offset])
    assert {"return 1", "total = (", "marked", "first = next(numbers())", "while True: break"} <= found
    assert {"ended = 5", "done = 6"} <= found
    assert all(found)


def test_what_a_loop_takes_stands_where_its_iterable_does() -> None:
    """Not in all of the loop, whose last line would be told to have made it."""
    source = "for one, two in zip(a, b):\n    one()\n    two()\n"
    places = {(each.opname, each.positions) for each in dis.get_instructions(Lines().compile(source))}
    taken = [place for name, place in places if name in {"GET_ITER", "FOR_ITER"} and place is not None]
    assert {(place.lineno, place.end_lineno, place.col_offset, place.end_col_offset) for place in taken} == {
        (1, 1, 16, 25)
    }
