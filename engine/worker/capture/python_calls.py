"""Calls of the program's own Python functions, statement by statement, recorded only when that was asked for.

`sys.settrace` tells of each line as it begins. Nothing of the user's is called to show a value: no `__repr__`, no
`__getattr__`, no property. After the last call that is recorded nothing is traced any more.
"""

import ast
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any

import torch

from engine.events import FunctionEntered, FunctionLeft, Omitted, StatementRan
from engine.program.tree import parse
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name, plain_text
from engine.worker.capture.tensor_facts import look
from engine.worker.pytorch.internals import is_leaving, tracing_state
from engine.worker.pytorch.modes import unseen

MOST_CALLS = 600
MOST_STATEMENTS = 6_000
_DEEPEST = 60
"""Functions inside one another; a program that overflows the stack does so where it would without being followed."""
_LONGEST = 72
_MOST_ARGUMENTS = 12
_MOST_SHOWN = 2
"""Attributes of an object that are shown with it."""
_TRACES_ITSELF = re.compile(
    r"settrace|gettrace|setprofile|getprofile|f_trace|\bbdb\b|\bpdb\b|breakpoint|cProfile|_getframe|currentframe"
)
_FUNCTION, _STARRED, _KEYWORDS = 0x1, 0x4, 0x8
"""Bits of `co_flags`: code of a function and no class body, `*args`, `**kwargs`."""
_HIDDEN = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
_LIBRARY = str(Path(torch.__file__).parent)
_PLAIN = frozenset((int, float, bool, str))
_TELLING = frozenset((int, float, str))

Assigned = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement as it stands in the source."""

    line: int
    lines: int
    targets: tuple[tuple[str, ast.expr], ...] = ()
    """What it assigns to, as written and as a tree."""
    body: range | None = None
    """For a loop: lines of its body; it assigns only when it goes on there."""


class Follower:
    """Follows the first thread of one program."""

    def __init__(self, recorder: Recorder, source: str) -> None:
        self.recorder = recorder
        self.calls = self.statements = self.clock = 0
        self.stopped = bool(_TRACES_ITSELF.search(source))
        self._written = {} if self.stopped else written(source)
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._counts: dict[str, int] = {}
        self._running: dict[FrameType, int] = {}
        self._under_way: dict[FrameType, tuple[_Written, int]] = {}
        """The statement each of them is at, and when it began."""
        self._raised: tuple[FrameType, str] | None = None
        """An exception on its way, which its frame may still catch."""

    def begin(self) -> None:
        """From here on calls are recorded; not in a program that traces itself."""
        if not self.stopped:
            sys.settrace(self._called)

    def end(self) -> None:
        """Nothing more is traced."""
        self.stopped = True
        if getattr(sys.gettrace(), "__self__", None) is self:
            sys.settrace(None)
        for frame in self._running:
            frame.f_trace = None
        self._running.clear()
        self._under_way.clear()
        self._raised = None

    # Events of `sys.settrace`

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        """Told of every function that is entered."""
        code = frame.f_code
        if (
            not self.recorder.sites.is_users(code)
            or not code.co_flags & _FUNCTION
            or code.co_name in _HIDDEN
            or self.stopped
        ):
            return None
        if self.calls >= MOST_CALLS or self.statements >= MOST_STATEMENTS or len(self._running) >= _DEEPEST:
            self.recorder.outbox.send(Omitted("python_calls", "python_calls", self.calls, 0))
            self.end()
            return None
        return self._inside if self._guarded(self._enter, frame, code) else None

    def _inside(self, frame: FrameType, event: str, argument: object) -> Any:
        """Told of what happens in a function that was recorded."""
        if self.stopped:
            return None
        if event == "line":
            done = self._guarded(self._line, frame)
        elif event == "return":
            done = self._guarded(self._leave, frame, argument)
        else:
            done = self._guarded(self._raise, frame, argument)
        return self._inside if done else None

    def _guarded(self, work: Any, *arguments: object) -> bool:
        try:
            with unseen():
                work(*arguments)
        except Exception as error:
            self.recorder.trouble("calls", error)
            self.end()
            return False
        return True

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _enter(self, frame: FrameType, code: CodeType) -> None:
        self.calls += 1
        parent, through, caller = self._caller(frame)
        site = 0 if caller is None else self.recorder.sites.place(caller.f_code, caller.f_lasti)
        self.recorder.outbox.send(FunctionEntered(
            self.calls, parent, code.co_qualname, code.co_firstlineno, site, through,
            self._arguments(frame, code), self._tick(),
        ))  # fmt: skip
        self._running[frame] = self.calls

    def _caller(self, frame: FrameType) -> tuple[int, str, FrameType | None]:
        """The recorded call it belongs to, PyTorch's function nearest to it, and the program's frame that led to it."""
        through = ""
        nearest: FrameType | None = None
        above = frame.f_back
        while above is not None:
            code = above.f_code
            if self.recorder.sites.is_users(code):
                nearest = nearest or above
                if above in self._running:
                    return self._running[above], through, nearest
            elif nearest is None and not through and code.co_filename.startswith(_LIBRARY):
                through = f"{plain_text(above.f_globals.get('__name__'))[1:-1]}.{code.co_qualname}"
            above = above.f_back
        return 0, through, nearest

    def _arguments(self, frame: FrameType, code: CodeType) -> tuple[Assigned, ...]:
        starred = bool(code.co_flags & _STARRED) + bool(code.co_flags & _KEYWORDS)
        held = frame.f_locals
        names = [
            name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred] if name in held
        ]
        return tuple([(name, self.text(held[name])) for name in names[:_MOST_ARGUMENTS]])

    def _line(self, frame: FrameType) -> None:
        statement = self._written.get(frame.f_lineno)
        current = self._under_way.get(frame)
        if statement is None or (current is not None and current[0] is statement and statement.lines > 1):
            return  # to and fro between the lines of one statement
        self._settle(frame, True)
        self.statements += 1
        self._under_way[frame] = (statement, self._tick())

    def _settle(self, frame: FrameType, done: bool) -> None:
        """The statement under way has ended, or was cut short."""
        statement, at = self._under_way.pop(frame, (None, 0))
        if statement is None:
            return
        assigned = []
        # The line of a lambda is one of the statement that it stands in, which assigned long before it ran.
        if done and frame.f_code.co_name != "<lambda>" and (statement.body is None or frame.f_lineno in statement.body):
            for text, target in statement.targets:
                value = _found(frame, target)
                if value is not _NOTHING:
                    assigned.append((text, self.text(value)))
        ended = self._tick() if done else 0
        self.recorder.outbox.send(StatementRan(self._running[frame], statement.line, at, ended, tuple(assigned)))

    def _raise(self, frame: FrameType, argument: object) -> None:
        if isinstance(argument, tuple):
            self._raised = (frame, class_name(argument[1]) if isinstance(argument[1], BaseException) else "Exception")

    def _leave(self, frame: FrameType, value: object) -> None:
        raised = ""
        if self._raised is not None and self._raised[0] is frame:
            if value is None and not is_leaving(frame):
                raised = self._raised[1]
            self._raised = None
        self._settle(frame, not raised)
        call = self._running.pop(frame)
        self.recorder.outbox.send(FunctionLeft(call, self._tick(), None if raised else self.text(value), raised))

    # Values

    def text(self, value: object, depth: int = 0) -> str:
        """A value in few words."""
        text = self._text(value, depth)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def _text(self, value: Any, depth: int) -> str:
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            return self._tensor(value)
        if kind is float:
            return f"{value:.4g}"
        if kind is int and value.bit_length() > 4 * _LONGEST:
            return f"int of {value.bit_length()} bits"
        if kind in (str, bytes):
            return repr(value[:_LONGEST])
        if kind in (tuple, list) and len(value) <= 8 and depth < 4:
            inner = ", ".join([self.text(item, depth + 1) for item in value])
            return f"[{inner}]" if kind is list else f"({inner},)" if len(value) == 1 else f"({inner})"
        if kind is dict and len(value) <= 4 and depth < 4:
            inner = ", ".join([f"{self.text(k, depth + 1)}: {self.text(v, depth + 1)}" for k, v in value.items()])
            return "{" + inner + "}"
        if issubclass(kind, type):
            return str(_name_of(value))
        if type.__getattribute__(kind, "__module__") != "__main__":
            return plain_text(value, _LONGEST)
        number = self._number(value)
        return f"{class_name(value)}{number}{self._attributes(value) if depth < 2 else ''}"

    def _tensor(self, tensor: torch.Tensor) -> str:
        if tracing_state() is not None:
            return "tensor"  # `jit.trace` would follow what is asked of it
        shape = tuple(tensor.shape)
        size = "×".join(map(str, shape)) if len(shape) > 1 else shape
        state = self.recorder.tensors.state(tensor)
        if state is not None and state.is_undefined:
            return f"tensor {size}, uninitialised"
        data = look(tensor).data
        if data is None or len(data) > 6 or tensor.dim() > 1 or tensor.is_complex():
            return f"tensor {size}"
        inner = ", ".join([f"{each:.4g}" if type(each) is float else str(each) for each in data])
        return f"tensor([{inner}])" if tensor.dim() else f"tensor({inner})"

    def _attributes(self, value: object) -> str:
        """Its first attributes that are numbers, texts or tensors; a module has too many."""
        if issubclass(type(value), torch.nn.Module):
            return ""
        held = attributes(value)
        plain = [name for name, each in held.items() if type(each) in _TELLING or issubclass(type(each), torch.Tensor)]
        parts = [f"{name}={self.text(held[name], 2)}" for name in plain[:_MOST_SHOWN] if type(name) is str]
        return f"({', '.join(parts)})" if parts else ""

    def _number(self, value: object) -> str:
        """` #2` for the second object of a class that was met; nothing where none can be told from another."""
        known = self._numbers.get(id(value))
        if known is None or known[0]() is not value:
            try:
                reference = weakref.ref(value)
            except TypeError:
                return ""
            kind = class_name(value)
            self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._numbers[id(value)] = (reference, self._counts[kind])
        return f" #{known[1]}"


_NOTHING = object()
_bases_of = type.__dict__["__mro__"].__get__  # a metaclass may answer these as it likes
_name_of = type.__dict__["__name__"].__get__
_members_of = type.__dict__["__dict__"].__get__


def attributes(value: object) -> Mapping[str, Any]:
    """An object's own attributes, in their order, without asking its class."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = None
    if type(held) is dict and held:
        return held
    slots = [
        (name, member) for base in _bases_of(type(value)) for name, member in _members_of(base).items()
        if type(member) is MemberDescriptorType
    ]  # fmt: skip
    found = {}
    for name, member in slots:
        try:
            found[name] = member.__get__(value)
        except AttributeError:  # never given a value
            continue
    return found


def _found(frame: FrameType, target: ast.expr) -> object:
    """What a target holds now, looked up without running any code of the user's."""
    if isinstance(target, ast.Name):
        held = frame.f_locals
        return held.get(target.id, frame.f_globals.get(target.id, _NOTHING))
    if isinstance(target, ast.Attribute):
        owner = _found(frame, target.value)
        if owner is _NOTHING:
            return _NOTHING
        if issubclass(type(owner), torch.Tensor):
            return _of_tensor(owner, target.attr)
        return attributes(owner).get(target.attr, _NOTHING)
    if isinstance(target, ast.Subscript):
        owner, key = _found(frame, target.value), _found(frame, target.slice)
        if type(owner) is dict and type(key) in _PLAIN:
            return owner.get(key, _NOTHING)
        if type(owner) is list and type(key) is int and -len(owner) <= key < len(owner):
            return owner[key]
        return owner if issubclass(type(owner), torch.Tensor) else _NOTHING
    return target.value if isinstance(target, ast.Constant) else _NOTHING


def _of_tensor(tensor: Any, name: str) -> object:
    if name == "data":
        return tensor
    return tensor.grad if name == "grad" and tensor.is_leaf else _NOTHING


def written(source: str) -> dict[int, _Written]:
    """The statement of each line, the innermost where several share one; none for a source that is no program."""
    found: dict[int, _Written] = {}
    tree = parse(source)
    for node in ast.walk(tree) if tree is not None else ():  # outer ones first
        if isinstance(node, ast.stmt) and not _is_docstring(node):
            lines = range(node.lineno, _last_line(node) + 1)
            statement = _Written(node.lineno, len(lines), tuple(_targets(node)), _body(node))
            found.update(dict.fromkeys(lines, statement))
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last_line(node: ast.stmt) -> int:
    """Of a statement; of a compound one the last line of its header."""
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def _body(node: ast.stmt) -> range | None:
    if not isinstance(node, ast.For | ast.AsyncFor):
        return None
    return range(node.body[0].lineno, (node.body[-1].end_lineno or node.lineno) + 1)


def _targets(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        todo = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor) or (isinstance(node, ast.AnnAssign) and node.value):
        todo = [node.target]
    elif isinstance(node, ast.With | ast.AsyncWith):
        todo = [item.optional_vars for item in node.items if item.optional_vars is not None]
    else:
        return
    while todo:
        target = todo.pop(0)
        if isinstance(target, ast.Tuple | ast.List):
            todo[:0] = target.elts
        elif isinstance(target, ast.Starred):
            todo.insert(0, target.value)
        else:
            yield ast.unparse(target), target
