"""What only the running program knows of its own failure: what the names stood for, and which real names are near.

Asked once, after the program has ended. Nothing of the user's is called: attributes are read from where they are
stored.
"""

import ast
import builtins
import contextlib
import inspect
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

import numpy
import torch

from engine.program.names import ALIASES
from engine.program.source import Source
from engine.program.spelling import LONGEST_NAME, nearest
from engine.trace import Span
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import MODULE_TABLES, position_at, positions_of
from engine.worker.pytorch.modes import unseen

_MOST_OPERANDS = 24
_MOST_KEYWORDS = 8
_MISSING = object()

Operand = tuple[str, str, int]
Place = tuple[int, int, int, int]
"""Line, end line and columns in bytes of UTF-8, as code objects and syntax trees both have them."""

_PLACES = (
    "torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data",
    "torch.linalg", "torch.nn.init", "torch.nn.utils", "torch.autograd", "torch.utils.checkpoint",
    "torch.distributions",
)  # fmt: skip
_KNOWN = {
    "true": "True", "false": "False", "none": "None", "null": "None", "nil": "None", "xrange": "range",
    "raw_input": "input", "unicode": "str", "unichr": "chr", "basestring": "str",
}  # fmt: skip
"""Names of other languages, and of Python 2."""
_HOLDERS = ("module", "dataset")
"""What DataParallel and DistributedDataParallel call the model in them, Subset and DataLoader the dataset."""
_ROWS: dict[type, str] = {torch.Tensor: "tensor", numpy.ndarray: "tensor", list: "list"}
_CALLED = {"gpu": "cuda"}
"""Attributes of PyTorch's things by the names that people expect."""


class FailureContext:
    """The failing expression and the frame it is in."""

    def __init__(self, recorder: Recorder, source: str, frame: FrameType, instruction: int) -> None:
        self.recorder = recorder
        self.frame = frame
        self.place = _place(frame, instruction)
        self.expressions = _expressions(source, self.place)

    def operands(self) -> tuple[Operand, ...]:
        """The names in the expression and what they stood for."""
        found: dict[str, Operand] = {}
        for node in self.expressions:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) and len(found) < _MOST_OPERANDS:
                    value = self.value(inner)
                    if value is not _MISSING:
                        text = ast.unparse(inner)
                        found.setdefault(text, (text, _type_of(value), self._number(value)))
        return tuple(found.values())

    def _number(self, value: object) -> int:
        if not isinstance(value, torch.Tensor):
            return 0
        with unseen():
            return self.recorder.tensors.meet(value).id

    def value(self, node: ast.expr) -> Any:
        """What a name or a chain of attributes stands for; `_MISSING` when that cannot be read without calling
        anything."""
        if isinstance(node, ast.Name):
            for scope in (self.frame.f_locals, self.frame.f_globals, vars(builtins)):
                if node.id in scope:
                    return scope[node.id]
        elif isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            if owner is not _MISSING:
                return _stored(owner, node.attr)
        elif isinstance(node, ast.Subscript):
            return _element(self.value(node.value), self.value(node.slice))
        elif isinstance(node, ast.Constant):
            return node.value
        return _MISSING

    def facts(self, error: BaseException) -> dict[str, str]:
        """The name that was not found, and what is near it."""
        match error:
            case ModuleNotFoundError():
                return _near(error.name or "", "", _importable())
            case ImportError():
                return self._imported(error)
            case NameError():
                return self._undefined(error)
            case AttributeError():
                return self._attribute(error)
            case TypeError():
                return self._keyword(error)
            case KeyError():
                return self._key(error)
            case ValueError():
                return _group_sizes(error) or _repeated_axis(error)
        return {}

    def _imported(self, error: ImportError) -> dict[str, str]:
        said = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        module = sys.modules.get(said[2]) if said else None
        if said is None or module is None:
            return {}
        facts = _near(said[1], said[2], vars(module))
        return {**facts, "place": _home(said[1], said[2], f"{said[2]}.functional")}

    def _undefined(self, error: NameError) -> dict[str, str]:
        name = error.name or ""
        mine = [*self.frame.f_locals, *self.frame.f_globals]
        if name.lower() in _KNOWN:
            return {"name": name, "suggestion": _KNOWN[name.lower()], "only": "yes"}
        near_builtins = [builtin for builtin in dir(builtins) if len(name) > 3 and builtin[0] == name[0]]
        facts = _near(name, "", [*mine, *near_builtins, "True", "False", "None"])
        if facts.get("suggestion", "").lower() == name.lower():
            facts.pop("only", None)  # `Net` beside `net` are most often a class and its object
        facts["place"] = _home(name, "")
        if not facts["place"] and hasattr(torch.Tensor, name):
            facts["place"] = "torch.Tensor"
        return facts

    def _attribute(self, error: AttributeError) -> dict[str, str]:
        owner, name = error.obj, error.name or ""
        if owner is None or not name:
            return {"name": name, "owner": "None"} if name else {}
        facts = _near(name, _type_of(owner), _names_of(owner))
        if hasattr(type(owner), meant := _CALLED.get(name, "")):
            return {"name": name, "owner": facts["owner"], "suggestion": meant}
        if isinstance(owner, types.ModuleType | torch.Tensor):
            but = owner.__name__ if isinstance(owner, types.ModuleType) else ""
            facts["place"] = _home(name, but, self._meant_by_alias(name, owner))
        inside = _inside(owner, name)
        if not facts.get("place") and not inside and hasattr(torch.Tensor, name):
            facts["place"] = "torch.Tensor"
        return {**facts, **inside}

    def _meant_by_alias(self, name: str, owner: object) -> str:
        """The module that the name stands for by custom which an attribute was asked of."""
        inside = (inner for node in self.expressions for inner in ast.walk(node))
        asked = (node.value for node in inside if isinstance(node, ast.Attribute) and node.attr == name)
        return next(
            (ALIASES.get(node.id, "") for node in asked if isinstance(node, ast.Name) and self.value(node) is owner), ""
        )

    def _keyword(self, error: TypeError) -> dict[str, str]:
        said = re.search(r"got (?:an unexpected keyword|multiple values for) argument '(\w+)'", str(error))
        if said is None:
            return {}
        for node in self.expressions:
            called = self.value(node.func) if isinstance(node, ast.Call) else _MISSING
            if called is not _MISSING:
                known = _keywords_of(called)
                return {**_near(said[1], _type_of(called), known), "known": ", ".join(known[:_MOST_KEYWORDS])}
        return {"name": said[1]}

    def _key(self, error: KeyError) -> dict[str, str]:
        key = error.args[0] if error.args else None
        for node in self.expressions:
            if isinstance(node, ast.Subscript) and isinstance(key, str):
                held = self.value(node.value)
                if isinstance(held, torch.nn.ModuleDict):
                    held = held._modules
                if isinstance(held, dict):
                    keys = [known for known in held if isinstance(known, str)]
                    first = [repr(known[:LONGEST_NAME]) for known in keys[:_MOST_KEYWORDS]]
                    more = ["…"] if len(held) > len(first) else []
                    return {**_near(key, _type_of(held), keys), "known": ", ".join([*first, *more])}
        return {}


def _place(frame: FrameType, instruction: int) -> Place | None:
    position = position_at(positions_of(frame.f_code), instruction)
    return position if position is not None and None not in position else None  # type: ignore[return-value]


def _expressions(source: str, place: Place | None) -> list[ast.expr]:
    """The failing expression; when the place is that of a statement or its target, all in that statement."""
    if place is None:
        return []
    line, end_line, column, end_column = place
    code = Source(source)
    node = code.at(
        Span(
            line=line,
            end_line=end_line,
            column=code.column(line, column),
            end_column=code.column(end_line, end_column),
        )
    )
    if isinstance(node, ast.expr) and not isinstance(node.__dict__.get("ctx"), ast.Store):
        return [node]
    statement = code.statement_on(line, end_line)
    inside = ast.iter_child_nodes(statement) if statement is not None else ()
    return [node for node in inside if isinstance(node, ast.expr)]


def _type_of(value: object) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    return type(value).__name__


def _stored(owner: object, name: str) -> Any:
    """An attribute, read without running a property or a `__getattr__` of the user's."""
    if isinstance(owner, torch.Tensor):
        if name == "grad":
            return owner.grad if owner.is_leaf or owner.retains_grad else None  # asked, it would warn
        method = getattr(torch.Tensor, name, _MISSING)
        return method if callable(method) else _MISSING
    held = getattr(owner, "__dict__", None)
    for scope in _scopes(owner, held if isinstance(held, dict) else {}):
        if name in scope:
            return scope[name]
    found = inspect.getattr_static(owner, name, _MISSING)
    if isinstance(found, types.FunctionType) and not isinstance(owner, types.ModuleType | type):
        return types.MethodType(found, owner)
    return _MISSING if isinstance(found, property) else found


def _inside(owner: object, name: str) -> dict[str, str]:
    """By which attribute the thing is held around which another was made, when that has the name; and for a part of a
    dataset of what kind it is, when it has something for each sample."""
    for holder in _HOLDERS:
        inner = _stored(owner, holder)
        value: Any = _stored(inner, name) if inner is not _MISSING and name in _names_of(inner) else _MISSING
        if value is _MISSING:
            continue
        kind, chosen = _ROWS.get(type(value), ""), _stored(owner, "indices")
        with unseen(), contextlib.suppress(TypeError, ValueError):
            if kind and type(chosen) is list and len(value) > max(chosen):
                return {"inside": holder, "each": kind}
        return {"inside": holder}
    return {}


def _element(owner: object, key: object) -> Any:
    """What a plain list, tuple or dictionary holds under a plain key."""
    is_list = type(owner) in (list, tuple) and type(key) is int
    if is_list or (type(owner) is dict and type(key) in (int, str)):
        with contextlib.suppress(LookupError):
            return owner[key]  # type: ignore[index]
    return _MISSING


def _scopes(owner: object, held: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield held
    if isinstance(owner, torch.nn.Module):
        for inner in MODULE_TABLES:
            scope = held.get(inner)
            if isinstance(scope, dict):
                yield scope


def _names_of(owner: object) -> Iterable[str]:
    """The attributes an object has, without asking the user's own `__dir__`."""
    if isinstance(owner, types.ModuleType):
        return vars(owner)
    held = getattr(owner, "__dict__", None)
    names = [name for scope in _scopes(owner, held if isinstance(held, dict) else {}) for name in scope]
    cls = owner if isinstance(owner, type) else type(owner)
    return [*names, *type.__dir__(cls)]


def _keywords_of(called: Any) -> list[str]:
    if isinstance(called, torch.nn.Module):
        called = called.forward
    with contextlib.suppress(ValueError, TypeError):
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return [name for name, parameter in inspect.signature(called).parameters.items() if parameter.kind in kinds]
    # a builtin of PyTorch says its signature in the first line of its documentation
    first = next((line for line in (getattr(called, "__doc__", None) or "").splitlines() if "(" in line), "")
    inner = first.partition("(")[2].rpartition(")")[0]
    return re.findall(r"(?:^|[,*]\s*)(\w+)\s*(?=[=,:]|$)", inner)


def _importable() -> list[str]:
    return [name for name in {*sys.modules, *sys.stdlib_module_names} if not name.startswith("_")]


def _home(name: str, but: str, first: str = "") -> str:
    """Where in PyTorch that very name does exist, as a full path; looked for in one module `first`."""
    if name.startswith("_"):
        return ""
    for place in (first, *_PLACES):
        module = sys.modules.get(place)
        if module is not None and place != but:
            value = vars(module).get(name, _MISSING)
            if value is not _MISSING and (not isinstance(value, types.ModuleType) or f"{place}.{name}" in sys.modules):
                return f"{place}.{name}"
    return ""


def _group_sizes(error: ValueError) -> dict[str, str]:
    """How many parameters an optimizer has in its groups, and had when what it was to load was saved, as
    `Optimizer.load_state_dict` was holding them (torch/optim/optimizer.py, 2.13)."""
    inner = _innermost(error, torch.optim.Optimizer.load_state_dict)
    if inner is None:
        return {}
    held, saved = ([len(group["params"]) for group in inner[name]] for name in ("groups", "saved_groups"))
    return {"held": _counted(held), "saved": _counted(saved)}


def _counted(sizes: list[int]) -> str:
    """How many in all, then in each of the first groups."""
    more = ["…"] if len(sizes) > _MOST_KEYWORDS else []
    return f"{sum(sizes)} = {' + '.join([*map(str, sizes[:_MOST_KEYWORDS]), *more])}"


def _repeated_axis(error: ValueError) -> dict[str, str]:
    """Along which axis all slices of a loss's target are equal, where that is all that parts its shape from the
    input's, which is 1 there; as the loss was holding them (torch/nn/functional.py, 2.13)."""
    losses = (torch.nn.functional.binary_cross_entropy, torch.nn.functional.binary_cross_entropy_with_logits)
    inner = next((found for loss in losses if (found := _innermost(error, loss)) is not None), {})
    given, target = inner.get("input"), inner.get("target")
    if not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor) or given.ndim != target.ndim:
        return {}
    odd = [axis for axis, sizes in enumerate(zip(given.shape, target.shape, strict=True)) if sizes[0] != sizes[1]]
    with unseen():
        is_one = len(odd) == 1 and odd[0] > 0 and given.shape[odd[0]] == 1 and 0 not in target.shape
        is_so = is_one and not target.is_meta and torch.equal(target, target.narrow(odd[0], 0, 1).expand_as(target))
    return {"repeated": str(odd[0])} if is_so else {}


def _innermost(error: ValueError, function: Callable[..., object]) -> Mapping[str, Any] | None:
    """What the names in a function of the library stood for, when it is what raised."""
    inner = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    return inner.f_locals if inner.f_code is inspect.unwrap(function).__code__ else None


def _near(name: str, owner: str, candidates: Iterable[str]) -> dict[str, str]:
    """The name, its owner, and the real name nearest to it, with word of whether no other is as near."""
    facts = {"name": name[:LONGEST_NAME], "owner": owner}
    suggestion, only = nearest(name, candidates)
    if suggestion:
        facts["suggestion"] = suggestion
    if only:
        facts["only"] = "yes"
    return facts
