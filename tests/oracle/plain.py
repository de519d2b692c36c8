"""Runs programs in plain PyTorch, each in a fork of one warm process: `python -m tests.oracle.plain`.

Questions come in as lines of JSON, facts go out as lines of JSON. Nothing of the engine is imported. The first run of a
program leaves autograd untouched; the second puts a hook of its own on each node to see the visits.
"""

import atexit
import builtins
import functools
import gc
import io
import itertools
import linecache
import os
import random
import re
import signal
import sys
import tempfile
import threading
import traceback
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import torch
import torch.func
import torch.utils.checkpoint
import torch.utils.data
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from tests.oracle.facts import (
    FILE,
    FULL,
    Element,
    Facts,
    FailureFact,
    Figures,
    GraphFact,
    PassFact,
    Question,
    TensorFact,
    Values,
    VariableFact,
    VisitFact,
    WarningFact,
)
from tests.oracle.moments import Watch

Node: TypeAlias = Any  # torch's autograd nodes have no static type
WALL_S = 30
OWN_FRAMES = re.compile(r'  File "[^"]*(?:/threading|/oracle/plain)\.py", line .*\n(?:    .*\n)?')
"""What anomaly mode would show of this module in a message."""
ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(Question)


def main() -> None:
    """Answer questions until the input ends."""
    warm()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(answer(line) + b"\n")
        sys.stdout.buffer.flush()


def warm() -> None:
    """Import what torch imports lazily, once, before any fork."""
    torch.set_num_threads(1)
    weight = torch.ones(1, requires_grad=True)
    torch.optim.Adam([weight]).zero_grad()


def answer(line: bytes) -> bytes:
    """Fork, run, and read the facts from a file: a pipe could be closed or filled by the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts"
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(WALL_S)
                path.write_bytes(ENCODER.encode(observe(DECODER.decode(line), Path(folder))))
            except BaseException:  # a bug of ours, shown by the parent
                (Path(folder) / "bug").write_text(traceback.format_exc())
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if path.exists():
            return path.read_bytes()
        bug = (Path(folder) / "bug").read_text() if (Path(folder) / "bug").exists() else ""
        raise SystemExit(f"the child ended with status {status} and without facts: {line[:200]!r}\n{bug}")


class Observer:
    """Counts what happens, without touching the program."""

    def __init__(self, hooks: bool) -> None:
        self.hooks = hooks
        self.passes: list[PassFact | None] = []
        self.running: defaultdict[int, list[list[VisitFact]]] = defaultdict(list)
        """Visits of the running passes of each thread; a leaf may be visited by a pass and by one within it."""
        self.warnings: list[WarningFact] = []
        self.steps = 0
        self.stepping: list[Any] = []
        self.zero_grads = 0

    def install(self) -> None:
        """Patch the funnel of all backward calls, zero_grad, and the printing of warnings."""
        run_backward = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

        def counted(roots: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
            return self.run_pass(
                functools.partial(run_backward, roots, *args, **kwargs),
                roots,
                bool(kwargs.get("accumulate_grad", False)),
            )

        torch.autograd._engine_run_backward = counted  # type: ignore[attr-defined, assignment]
        handles = RemovableHandle.next_id
        register_optimizer_step_pre_hook(lambda optimizer, *_: self.stepping.append(optimizer))
        register_optimizer_step_post_hook(self.count_step)
        RemovableHandle.next_id = handles
        torch.optim.Optimizer.zero_grad = self.counting(torch.optim.Optimizer.zero_grad)  # type: ignore[method-assign]
        torch.nn.Module.zero_grad = self.counting(torch.nn.Module.zero_grad)  # type: ignore[method-assign]
        warnings.showwarning = self.show_warning

    def run_pass(self, call: Callable[[], Any], roots: Sequence[Any], accumulates: bool) -> Any:
        number = len(self.passes)
        self.passes.append(None)
        nodes = [root_node(root) for root in roots]
        graphs = tuple(graph_from(node) for node in nodes if node is not None)
        visits: list[VisitFact] = []
        running = self.running[threading.get_ident()]
        handles = [hook_visit(node, visits, running) for node in walk(nodes)] if self.hooks else []
        failed = True
        running.append(visits)
        try:
            result = call()
            failed = False
            return result
        finally:
            running.pop()
            for handle in handles:
                handle.remove()
            self.passes[number] = PassFact(
                kind="backward" if accumulates else "grad", roots=graphs, visits=tuple(visits), failed=failed
            )

    def counts(self) -> tuple[int, int, int]:
        """Passes, steps of optimizers and calls of `zero_grad` so far."""
        return len(self.passes), self.steps, self.zero_grads

    def count_step(self, optimizer: Any, *_: Any) -> None:
        while self.stepping.pop() is not optimizer:
            pass  # those that raised
        if optimizer not in self.stepping:  # `super().step()` is part of a step
            self.steps += 1

    def counting(self, zero_grad: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(zero_grad)
        def counted(*args: Any, **kwargs: Any) -> None:
            self.zero_grads += 1
            zero_grad(*args, **kwargs)

        return counted

    def show_warning(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any
    ) -> None:
        text = OWN_FRAMES.sub("", str(message))
        self.warnings.append(WarningFact(category=category.__name__, message=text, line=user_line(filename, lineno)))


def user_line(filename: str, lineno: int) -> int:
    """The line of the program that led to a warning, 0 when none did."""
    if filename == FILE:
        return lineno
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0


def observe(question: Question, folder: Path) -> Facts:
    """Run the program as a file would run, and say what was seen."""
    torch.set_num_threads(question.threads)
    torch.manual_seed(question.seed)
    np.random.seed(question.seed)
    random.seed(question.seed)
    observer = Observer(question.hooks)
    observer.install()
    atexit._clear()  # the handlers of this process are not the program's
    redirect(folder)
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [FILE]
    os.chdir(folder)
    linecache.cache[FILE] = (len(question.code), None, question.code.splitlines(keepends=True), FILE)
    watch = Watch(question.code, question.moments, observer.counts, tensor_fact)

    def run() -> FailureFact | None:
        if question.moments:
            sys.settrace(watch.trace)
        return execute(question.code, module.__dict__)

    failure = on_big_stack(run)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            stream.flush()
    variables = {name: variable_fact(value) for name, value in module.__dict__.items() if is_variable(name, value)}
    return Facts(
        stdout=(folder / "stdout").read_text(),
        stderr=(folder / "stderr").read_text(),
        warnings=tuple(observer.warnings),
        failure=failure,
        variables=variables,
        passes=tuple(made for made in observer.passes if made),
        steps=observer.steps,
        zero_grads=observer.zero_grads,
        moments=watch.facts(),
    )


def redirect(folder: Path) -> None:
    """Send both streams to files, also what C code writes; let nothing be read."""
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    for number, name in ((1, "stdout"), (2, "stderr")):
        with (folder / name).open("wb") as file:
            os.dup2(file.fileno(), number)
        setattr(
            sys, name, io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding="utf-8", write_through=True)
        )


def on_big_stack(call: Callable[[], FailureFact | None]) -> FailureFact | None:
    """Deep graphs are freed by recursion in C; the main thread's stack is too small for it."""
    results: list[FailureFact | None] = []
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=lambda: results.append(call()), name="program")
    thread.start()
    thread.join()
    threading.stack_size(0)
    return results[0]


def execute(code: str, namespace: dict[str, Any]) -> FailureFact | None:
    """Run the program; the failure that ended it, if one did."""
    try:
        exec(compile(code, FILE, "exec"), namespace)
    except SyntaxError as error:
        if error.filename == FILE:
            return FailureFact(type=type(error).__name__, message=error.msg, line=error.lineno or 0)
        return failure_fact(error)
    except SystemExit as error:
        return exit_fact(error)
    except BaseException as error:
        return failure_fact(error)
    return None


def exit_fact(error: SystemExit) -> FailureFact | None:
    """As Python ends: no code or 0 is success, a text is printed and means 1."""
    if error.code is None or error.code == 0:
        return None
    if not isinstance(error.code, int):
        print(error.code, file=sys.stderr)
    return failure_fact(error)


def failure_fact(error: BaseException) -> FailureFact:
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
    return FailureFact(type=type(error).__name__, message=str(error), line=lines[-1] if lines else 0)


def is_variable(name: str, value: object) -> bool:
    return not name.startswith("__") and not isinstance(value, types.ModuleType)


def variable_fact(value: Any) -> VariableFact:
    """What a global name is bound to."""
    name = type(value).__name__
    if isinstance(value, torch.Tensor):
        node = root_node(value)
        return VariableFact(
            kind="tensor",
            type=name,
            tensor=tensor_fact(value),
            graph=None if value.grad_fn is None or node is None else graph_from(node),
        )
    if isinstance(value, torch.nn.Module):
        members = itertools.chain(value.named_parameters(), value.named_buffers())
        return VariableFact(kind="module", type=name, members={key: tensor_fact(item) for key, item in members})
    if isinstance(value, torch.optim.Optimizer):
        return VariableFact(kind="optimizer", type=name)
    if isinstance(value, type):
        return VariableFact(kind="class", type=name)
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return VariableFact(kind="function", type=name)
    return VariableFact(
        kind="array" if isinstance(value, np.ndarray) else "value",
        type=name,
        text=read_repr(value),
        items=tuple(values(item) for item in held_tensors(value)),
    )


def held_tensors(value: object) -> Iterator[torch.Tensor]:
    """Tensors directly in a list, tuple or dict."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, torch.Tensor))


def read_repr(value: object) -> str | None:
    try:
        return repr(value)
    except Exception:
        return None


def tensor_fact(tensor: torch.Tensor) -> TensorFact:
    grad = None
    if tensor.is_leaf or tensor.retains_grad:
        grad = tensor.grad
    return TensorFact(
        values=values(tensor),
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        grad=None if grad is None else values(grad),
    )


def values(tensor: torch.Tensor) -> Values:
    """Contents of a tensor; shape and dtype alone for one that cannot be read as numbers."""
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    if (
        tensor.layout != torch.strided
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        or tensor.device.type == "meta"
    ):
        return Values(shape=shape, dtype=dtype)
    try:
        with torch.no_grad():
            plain = tensor.detach().cpu().resolve_conj().resolve_neg()
            if plain.numel() <= FULL:
                return Values(shape=shape, dtype=dtype, data=elements(plain))
            return Values(shape=shape, dtype=dtype, figures=figures(plain))
    except RuntimeError:  # inside a batched backward there are no numbers yet
        return Values(shape=shape, dtype=dtype)


def elements(tensor: torch.Tensor) -> tuple[Element, ...]:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tuple(element(item) for item in tensor.reshape(-1).tolist())


def element(value: bool | float) -> Element:
    """As JSON can say it: non-finite numbers by name, long integers in words."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else {"inf": "inf", "-inf": "-inf"}.get(str(value), "nan")
    return str(value) if abs(value) > 2**53 else value


def figures(tensor: torch.Tensor) -> Figures:
    parts = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    numbers = parts.reshape(-1).double()
    finite = numbers[torch.isfinite(numbers)]
    empty = finite.numel() == 0
    return Figures(
        min=0.0 if empty else finite.min().item(),
        max=0.0 if empty else finite.max().item(),
        mean=0.0 if empty else finite.mean().item(),
        std=0.0 if empty else finite.std(correction=0).item(),
        norm=finite.norm().item(),
        zeros=int((numbers == 0).sum()),
        nan=int(torch.isnan(numbers).sum()),
        inf=int(torch.isinf(numbers).sum()),
    )


def root_node(root: Any) -> Node | None:
    """Where backward from a tensor or GradientEdge starts."""
    if isinstance(root, torch.autograd.graph.GradientEdge):
        return root.node
    if torch._C._functorch.is_functorch_wrapped_tensor(root):
        return root.grad_fn
    if root.requires_grad:
        try:
            return torch.autograd.graph.get_gradient_edge(root).node
        except AssertionError:  # a view of a leaf taken under no_grad leads nowhere
            return None
    return None


def walk(roots: Sequence[Node | None]) -> list[Node]:
    """Every node reachable, each once."""
    pending = [root for root in roots if root is not None]
    seen = set(pending)
    for node in pending:
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                pending.append(following)
    return list(dict.fromkeys(pending))


def type_name(node: Node) -> str:
    """The class name; the node's own name where several kinds share a class."""
    name = type(node).__name__
    return node.name().rpartition("::")[2] if name == "CppFunction" else name


def graph_from(root: Node) -> GraphFact:
    nodes = walk([root])
    slots = [[following for following, _ in node.next_functions] for node in nodes]
    ends = [[end for end in ends if end is not None] for ends in slots]
    return GraphFact(
        types=dict(Counter(map(type_name, nodes))),
        edges=sum(len(present) for present in ends),
        parallel=sum(len(present) - len(set(present)) for present in ends),
        missing=sum(len(all_slots) - len(present) for all_slots, present in zip(slots, ends, strict=True)),
    )


def hook_visit(node: Node, visits: list[VisitFact], running: list[list[VisitFact]]) -> Any:
    """Note the gradients that enter and leave a node in its own pass; the closure must not hold the node."""
    name = type_name(node)

    def after(left: Sequence[Any], entered: Sequence[Any]) -> None:
        if running[-1] is visits:
            visits.append(VisitFact(node=name, entered=flowed(entered), left=flowed(left)))

    return node.register_hook(after)


def flowed(gradients: Sequence[Any]) -> tuple[Values | None, ...]:
    return tuple(values(gradient) if isinstance(gradient, torch.Tensor) else None for gradient in gradients)


if __name__ == "__main__":
    gc.freeze()
    main()
