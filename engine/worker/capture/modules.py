"""The modules the program uses: numbers, paths from the user's variables, calls."""

import weakref
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from types import CodeType, FrameType
from typing import Any

import torch

from engine.bounds import MOST_MODULES
from engine.events import INFERENCE, NO_GRAD, TRAINING, ModuleCalled, ModuleLeft, ModuleSeen
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name
from engine.worker.pytorch.internals import tracing_state
from engine.worker.pytorch.modes import unseen

_grad_enabled = torch.is_grad_enabled
_LONGEST_PATH = 1000
_LONGEST_TEXT = 200


class Modules:
    """Numbers modules when their tree is first called, and tells of them again at the end."""

    def __init__(self, recorder: Recorder, names: Mapping[str, Any]) -> None:
        self.recorder = recorder
        self.names = names
        self.thread = recorder.thread
        self.entrance: CodeType | None = None
        """The code through which every module is called."""
        self.begun = self.omitted = 0
        self.fast: dict[int, tuple[Any, int]] = {}
        self.calls: defaultdict[int, int] = defaultdict(int)
        self.paths: dict[int, tuple[str, int]] = {}
        self.seconds: dict[tuple[int, str], int] = {}
        self.count = self.untold = 0

    def enter(self, module: torch.nn.Module, frame: FrameType) -> None:
        """Notes that a module's forward begins; `leave` must follow."""
        if not self.recorder.nodes.threaded:
            self._enter(module, frame)
            return
        with self.recorder.lock:
            self._enter(module, frame)

    def _enter(self, module: torch.nn.Module, frame: FrameType) -> None:
        recorder = self.recorder
        thread = self.thread.__dict__  # asked once: reading an attribute of a thread's own object is slow
        stack, calls = thread["modules"], thread["calls"]
        if recorder.sampler.armed is not None:  # a turn of a loop may begin with a model, and does not begin within it
            recorder.sampler.turn(frame)
        known = self.fast.get(id(module))
        number = known[1] if known is not None and known[0]() is module else self._meet(module, stack)
        stack.append(number)
        self.calls[number] += 1
        parent, above = calls[-1] if calls else (0, 0)
        if not number or thread["muted"] or recorder.closed or self._full():
            calls.append((0, above))
            return
        self.begun = begun = self.begun + 1
        code = frame.f_code
        site = recorder.sites.place(code, frame.f_lasti) if recorder.sites.is_users(code) else self._site(frame, above)
        # a module may lack all that its __init__ makes
        flags = TRAINING if module.__dict__.get("training", True) else 0
        if not _grad_enabled():
            flags |= INFERENCE if torch.is_inference_mode_enabled() else NO_GRAD
        passes = thread["passes"]
        recorder.outbox.put(
            ModuleCalled(begun, number, parent, flags, site, passes[-1] if passes else 0, thread["number"])
        )
        calls.append((begun, site))

    def _full(self) -> bool:
        limit = self.recorder.limits.ops
        if self.begun < limit or self.begun - self.recorder.counts.ops_forgotten < limit:
            return False
        self.omitted += 1
        return True

    def leave(self, raised: bool) -> None:
        """Notes that the forward entered last has ended."""
        thread = self.thread.__dict__
        thread["modules"].pop()
        call, _ = thread["calls"].pop()
        if call:
            self.recorder.outbox.put(ModuleLeft(call, raised))

    def _site(self, frame: FrameType | None, above: int) -> int:
        """The place in the program that called; for a module called by PyTorch's own, that of the call around it."""
        while frame is not None:
            code = frame.f_code
            if self.recorder.sites.is_users(code):
                return self.recorder.sites.place(code, frame.f_lasti)
            if code is self.entrance:
                return above
            frame = frame.f_back
        return 0

    def _meet(self, module: torch.nn.Module, stack: list[int]) -> int:
        if tracing_state() is not None:  # what is read of a tensor now becomes a part of what is traced
            return 0
        try:
            with unseen():
                number = self.number_of(module)
                if number is None:
                    self.tell(module, *self._place(module, stack[-1] if stack else 0))
                    number = self.number_of(module)
                self.fast[id(module)] = (weakref.ref(module), number or 0)
                return number or 0
        except Exception as error:
            self.recorder.trouble("module", error)
            return 0

    def number_of(self, module: torch.nn.Module) -> int | None:
        """The module's number; equality of modules is identity."""
        known = self.fast.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        return None

    def _place(self, module: torch.nn.Module, caller: int) -> tuple[str, int]:
        """The path of a module that is called before it was told of, and what it is a part of: of that which calls it,
        under its name there if it was put in since."""
        if name := self._name(module):
            return name, 0
        if not caller:
            return f"({class_name(module)})", 0
        owner = next((ref() for ref, number in self.fast.values() if number == caller), None)
        parts = owner._modules.items() if owner is not None else ()
        part = next((name for name, each in parts if each is module), f"({class_name(module)})")
        path = self.paths[caller][0]
        return f"{path}.{part}" if path else part, caller

    def _name(self, module: torch.nn.Module) -> str:
        for name, value in list(self.names.items()):
            if value is module and not name.startswith("__"):
                return name
        return ""

    def tell(self, module: torch.nn.Module, path: str, parent: int) -> None:
        """Numbers a tree and says what it consists of; parents first."""
        todo = [(module, path, parent)]
        while todo:
            current, place, above = todo.pop()
            if len(place) > _LONGEST_PATH:
                continue  # a module that holds itself
            number = self.number_of(current)
            if number is None and self.count >= MOST_MODULES:
                number = self._leave_untold(current)
            elif number is None:
                self.count += 1
                number = self.count
                self.fast[id(current)] = (weakref.ref(current), number)
                self.paths[number] = (place, above)
            elif number and self.paths[number][0] != place:
                if "(" in self.paths[number][0]:
                    self.paths[number] = (place, above)  # met before its tree was known
                elif current is module:
                    place = self.paths[number][0]  # another variable for the same tree
                else:
                    number = self._second(current, place, above)
            elif number and above and not self.paths[number][1]:
                self.paths[number] = (place, above)  # renamed after where it is held
            if number:
                self._say(current, number)
            children = [
                (child, f"{place}.{name}", number) for name, child in current._modules.items() if child is not None
            ]
            todo.extend(reversed(children))

    def turned(self) -> frozenset[str]:
        """The names through which several modules were called in turn, such as a loop's variable."""
        roots = Counter(place for place, above in self.paths.values() if not above)
        return frozenset(name for name, modules in roots.items() if modules > 1)

    def rename_parts(self, module: torch.nn.Module, path: str, turned: Container[str]) -> None:
        """Calls the parts of a tree by where they are held at the end that were called through such a name."""
        for place, part in torch.nn.Module.named_modules(module, prefix=path):
            number = self.number_of(part)
            if number and self.paths[number][0] in turned:
                self.rename(part, place)

    def rename(self, module: torch.nn.Module, path: str) -> None:
        """Calls a tree by where it is held at the end, not by the loop's variable that it was called through."""
        number = self.number_of(module)
        if not number:
            return
        old, _ = self.paths[number]
        for place, part in torch.nn.Module.named_modules(module, prefix=path):
            number = self.number_of(part)
            if number and self.paths[number][0] == old + place.removeprefix(path):
                self.paths[number] = (place, self.paths[number][1])

    def _leave_untold(self, module: torch.nn.Module) -> int:
        """Counts one that there is no room for; a call of it is nobody's."""
        self.untold += 1
        self.fast[id(module)] = (weakref.ref(module), 0)
        return 0

    def _second(self, module: torch.nn.Module, place: str, above: int) -> int:
        """The number of another path to a module; its ops are those of the first."""
        number = self.seconds.get((id(module), place))
        if number is None:
            self.count += 1
            number = self.seconds[id(module), place] = self.count
            self.paths[number] = (place, above)
        return number

    def _say(self, module: torch.nn.Module, number: int) -> None:
        recorder = self.recorder
        place, above = self.paths[number]
        parameters = [
            (n, recorder.tensors.meet(p, "parameter").id, False) for n, p in module._parameters.items() if p is not None
        ]
        buffers = []
        for name, buffer in module._buffers.items():
            if buffer is not None:
                state = recorder.tensors.meet(buffer, "buffer")
                recorder.tensors.become_buffer(state)
                buffers.append((name, state.id, False))
        recorder.outbox.add(ModuleSeen(
            number, place, class_name(module), above, tuple(parameters), tuple(buffers), bool(module.training),
            _description(module), self.calls.get(number, 0),
        ))  # fmt: skip
        recorder.outbox.publish()

    def tell_end(self, module: torch.nn.Module, number: int) -> None:
        """The module as it is at the end of the run."""
        self._say(module, number)

    def known(self) -> list[tuple[torch.nn.Module, int]]:
        """The numbered modules that still exist."""
        alive = [(ref(), number) for ref, number in self.fast.values()]
        return sorted(((m, n) for m, n in alive if m is not None and n), key=lambda pair: pair[1])


def _description(module: torch.nn.Module) -> str:
    """`extra_repr()` of PyTorch's own modules; a user's own might do anything."""
    if not type(module).__module__.startswith("torch.nn.") or type(module).extra_repr is torch.nn.Module.extra_repr:
        return ""
    return module.extra_repr()[:_LONGEST_TEXT]
