"""Keeps the engine's code from what a program does to Python's builtins.

A program may say `builtins.len = mine`, and all code of its process then calls that, as in plain Python. What records
it runs in the same process, and must go on. A function looks its builtins up where its module's `__builtins__` pointed
when the function was made (`func.__builtins__`, CPython 3.10), so the modules that are imported after this one get a
copy before they run. Python's own `contextlib` is the program's, and calls `next`: these modules import one of theirs.
"""

import builtins
import contextlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec
from types import FunctionType, ModuleType

_PYTHONS = dict(vars(builtins))
_OURS = (f"{__package__}.", "torch.overrides", "torch.nn.parameter")
"""Modules that recording runs: the engine's, the way of a call to a function mode, what makes a parameter one."""
_NOT_RUN = {"torch.overrides": ("is_tensor_like",), "torch.nn.parameter": ("Parameter.__new__",)}
"""What of these is for the program's own calls alone, and finds the program's builtins, as all of PyTorch does."""


def _import(name: str, *given: object) -> object:
    return _CONTEXTLIB if name == "contextlib" else _PYTHONS["__import__"](name, *given)


_COPY = _PYTHONS | {"__import__": _import}


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        names = vars(module)
        names["__builtins__"] = _COPY
        super().exec_module(module)
        names["__builtins__"] = builtins
        for place in _NOT_RUN.get(module.__name__, ()):
            owner, _, name = place.rpartition(".")
            holder = names[owner] if owner else module
            function: FunctionType = getattr(holder, name)
            again = FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
            again.__qualname__, again.__doc__ = function.__qualname__, function.__doc__
            setattr(holder, name, staticmethod(again) if owner else again)
        names["__builtins__"] = _COPY


def _with_own_builtins(module: ModuleType) -> ModuleType:
    """A second one of a module of Python's."""
    loader = _Loader(module.__name__, str(module.__file__))
    again = module_from_spec(ModuleSpec(module.__name__, loader, origin=module.__file__))
    loader.exec_module(again)
    return again


_CONTEXTLIB = _with_own_builtins(contextlib)


class _Finder(PathFinder):
    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = super().find_spec(fullname, path, target) if fullname.startswith(_OURS) else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _Finder)


def restore() -> None:
    """Undoes what the program did to Python's: it has ended."""
    builtins.__dict__.update(_PYTHONS)
