"""Every firing of a hook is told once: on what, from which line, what it changed; and the program cannot notice."""

import contextlib
import linecache
import os
import re
import sys
import traceback
import types
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from torch.utils.hooks import RemovableHandle

from engine import laws
from engine.limits import DEFAULT_LIMITS
from engine.trace import HookCall, Trace, Update
from tests.engine.worker.forked import record

HEAD = """
import torch, copy, pickle, functools
x = torch.tensor([1.0, 2.0], requires_grad=True)
"""


def _trace(code: str) -> Trace:
    trace = record(HEAD + code)
    assert [finding for finding in trace.findings if finding.code == "not_recorded"] == []
    assert laws.broken(trace) == []
    assert trace.failure is None, trace.failure.traceback
    return trace


def _line(code: str, text: str) -> int:
    return (HEAD + code).splitlines().index(next(line for line in (HEAD + code).splitlines() if text in line)) + 1


def _data(trace: Trace, tensor: str | None) -> tuple[object, ...] | None:
    return next((one.data for one in trace.tensors if one.id == tensor), None)


def _fired(trace: Trace) -> list[tuple[str, str]]:
    return [(hook.kind, hook.function) for hook in trace.hooks]


def _hook_updates(trace: Trace) -> list[Update]:
    return [update for update in trace.updates if update.kind == "hook"]


def _steps(trace: Trace, *kinds: str) -> list[str]:
    return [step.kind for step in trace.timeline if step.kind in kinds]


def _output(trace: Trace) -> str:
    return "".join(piece.text for piece in trace.output)


# What is told


def test_a_tensor_hook_is_told_with_its_lines_and_what_it_changed() -> None:
    code = """
def double(grad):
    return grad * 2
x.register_hook(double)
(x * 3).sum().backward()
"""
    trace = _trace(code)
    (hook,) = trace.hooks
    assert (hook.kind, hook.function, hook.pass_id, hook.raised) == ("tensor", "double", "p1", False)
    assert hook.span is not None and (hook.span.line, hook.span.end_line) == (
        _line(code, "def double"),
        _line(code, "* 2"),
    )
    assert hook.registered is not None and hook.registered.line == _line(code, "register_hook")
    assert (_data(trace, hook.before), _data(trace, hook.after)) == ((3.0, 3.0), (6.0, 6.0))
    (update,) = _hook_updates(trace)
    assert (update.hook, update.pass_id) == (hook.id, "p1")
    assert [(change.before, change.after) for change in update.changes] == [(hook.before, hook.after)]
    (step,) = [step for step in trace.timeline if step.kind == "hook"]
    assert (step.hook, step.update, step.input_nr) == (hook.id, update.id, 0)
    assert trace.passes[0].visits[step.visit or 0].node == hook.node


def test_hooks_of_a_sum_are_given_the_total_after_its_step() -> None:
    trace = _trace("""
x.register_hook(lambda grad: grad + 1)
x.register_hook(lambda grad: None)
x.register_hook(lambda grad: grad * 10)
(x * 3 + x * 4).sum().backward()
""")
    assert _steps(trace, "sum", "hook", "accumulate") == ["sum", "hook", "hook", "hook", "accumulate"]
    (met,) = [met for visit in trace.passes[0].visits for met in visit.sums]
    assert met.hooked
    assert (_data(trace, met.total), _data(trace, met.entered)) == ((7.0, 7.0), (80.0, 80.0))
    first, second, third = trace.hooks
    assert (first.before, second.before, third.after) == (met.total, None, met.entered)
    assert first.after == third.before


def test_hooks_on_nodes_before_and_after() -> None:
    trace = _trace("""
y = x * 3
y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
y.grad_fn.register_hook(lambda left, entered: (left[0] * 5, *left[1:]))
y.grad_fn.register_hook(lambda left, entered: None)
y.sum().backward()
""")
    assert [hook.kind for hook in trace.hooks] == ["node_pre", "node", "node"]
    (mul,) = [visit for visit in trace.passes[0].visits if visit.node == trace.hooks[0].node]
    assert (mul.entered[0], mul.left[0]) == (trace.hooks[0].after, trace.hooks[1].after)
    assert _data(trace, trace.hooks[1].before) == (6.0, 6.0)
    kinds = _steps(trace, "visit", "hook")
    assert kinds == ["visit", "hook", "visit", "hook", "hook", "visit"]


def test_a_hook_after_accumulation_comes_after_its_step_and_the_ledger_has_no_gap() -> None:
    code = """
def halve(leaf):
    leaf.grad.mul_(0.5)
x.register_post_accumulate_grad_hook(halve)
for turn in range(3):
    (x * 4).sum().backward()
"""
    trace = _trace(code)
    assert _steps(trace, "accumulate", "hook", "update") == ["accumulate", "hook", "update"] * 3
    ledger = []
    for pass_ in trace.passes:
        (added,) = pass_.accumulations
        ledger += [_data(trace, added.before), _data(trace, added.delta), _data(trace, added.after)]
    assert ledger == [
        None, (4.0, 4.0), (4.0, 4.0), (2.0, 2.0), (4.0, 4.0), (6.0, 6.0), (3.0, 3.0), (4.0, 4.0), (7.0, 7.0),
    ]  # fmt: skip


def test_an_optimizer_in_backward_frees_each_gradient() -> None:
    trace = _trace("""
opt = torch.optim.SGD([x], lr=0.1)
def update(leaf):
    opt.step()
    opt.zero_grad()
x.register_post_accumulate_grad_hook(update)
(x * 4).sum().backward()
(x * 4).sum().backward()
""")
    assert _steps(trace, "accumulate", "hook", "update", "reset") == ["accumulate", "hook", "update", "reset"] * 2
    assert [_data(trace, pass_.accumulations[0].before) for pass_ in trace.passes] == [None, None]


def test_module_hooks_of_all_kinds() -> None:
    trace = _trace("""
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
first = net[0]
first.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
first.register_forward_pre_hook(lambda module, args, kwargs: None, with_kwargs=True)
first.register_forward_hook(lambda module, args, kwargs, output: output + 1, with_kwargs=True)
first.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
first.register_full_backward_hook(lambda module, left, entered: tuple(g * 3 for g in left))
net(x.reshape(1, 2)).sum().backward()
""")
    assert [hook.kind for hook in trace.hooks] == ["forward_pre", "forward_pre", "forward", "backward_pre", "backward"]
    paths = {module.id: module.path for module in trace.modules}
    assert {paths[hook.module or ""] for hook in trace.hooks} == {"net.0"}
    types = {node.id: node.type for node in trace.nodes}
    assert {types[hook.node or ""] for hook in trace.hooks[3:]} == {"BackwardHookFunctionBackward"}
    assert [hook.before is None for hook in trace.hooks] == [False, True, False, False, False]
    assert _data(trace, trace.hooks[0].after) == (2.0, 4.0)
    assert len(_hook_updates(trace)) == 2


def test_global_module_hooks_and_always_called_ones() -> None:
    trace = _trace("""
from torch.nn.modules.module import register_module_forward_pre_hook, register_module_forward_hook
from torch.nn.modules.module import register_module_full_backward_hook
class Broken(torch.nn.Module):
    def forward(self, x): raise ValueError("no")
handles = [
    register_module_forward_pre_hook(lambda module, args: None),
    register_module_forward_hook(lambda module, args, output: None, always_call=True),
    register_module_full_backward_hook(lambda module, left, entered: None),
]
broken = Broken()
try:
    broken(x)
except ValueError:
    pass
relu = torch.nn.ReLU()
relu(x).sum().backward()
for handle in handles: handle.remove()
relu(x)
""")
    assert [hook.kind for hook in trace.hooks] == ["forward_pre", "forward", "forward_pre", "forward", "backward"]


@pytest.mark.parametrize(("mode", "count"), [("all", 1), ("any", 1)])
def test_a_hook_on_several_tensors_fires_once(mode: str, count: int) -> None:
    trace = _trace(f"""
w = torch.tensor([3.0, 4.0], requires_grad=True)
def seen(grads): print("seen")
torch.autograd.graph.register_multi_grad_hook([x, w], seen, mode="{mode}")
(x * w).sum().backward()
""")
    assert _fired(trace) == [("tensor", "seen")] * count
    assert _output(trace) == "seen\n"


def test_hooks_of_pytorchs_own_are_no_users_hooks() -> None:
    trace = _trace("""
net = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
torch.utils.checkpoint.checkpoint(net, x.reshape(1, 2), use_reentrant=False).sum().backward()
y = x * 2
y.retain_grad()
y.sum().backward()
""")
    assert trace.hooks == ()


def test_names_of_odd_callables() -> None:
    trace = _trace("""
class Scale:
    def __call__(self, grad): return grad * 2
    def method(self, grad): return None
def plain(factor, grad): return grad * factor
for hook in (Scale(), Scale().method, functools.partial(plain, 3), print, torch.neg, lambda grad: None):
    x.register_hook(hook)
(x * 3).sum().backward()
""")
    assert [hook.function for hook in trace.hooks] == ["Scale", "method", "plain", "print", "neg", "<lambda>"]
    assert [hook.span is not None for hook in trace.hooks] == [True, True, True, False, False, True]


def test_a_hook_that_raises_is_told_and_the_next_pass_is_whole() -> None:
    trace = _trace("""
def refuse(grad): raise ValueError("no")
handle = x.register_hook(refuse)
try:
    (x * 3).sum().backward()
except ValueError as error:
    handle.remove()
(x * 3).sum().backward()
""")
    (hook,) = trace.hooks
    assert (hook.raised, hook.before, hook.pass_id) == (True, None, "p1")
    assert [pass_.failed for pass_ in trace.passes] == [True, False]


def test_what_was_added_to_a_leaf_is_told_though_a_hook_of_it_raises() -> None:
    trace = record(
        HEAD
        + """
(x * x).sum().backward()
x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.clamp_(max=5))  # a hook gives nothing back
(x ** 3).sum().backward()
"""
    )
    assert laws.broken(trace) == []
    assert trace.failure is not None
    added = trace.passes[1].accumulations[0]
    assert [_data(trace, each) for each in (added.before, added.delta, added.after)] == [(2, 4), (3, 12), (5, 16)]
    assert _steps(trace, "accumulate", "hook", "update") == ["accumulate", "accumulate", "hook", "update"]


def test_what_a_hook_changed_is_told_after_what_it_computed() -> None:
    trace = _trace("y = x * 2\ny.register_hook(lambda grad: grad * 10)\ny.sum().backward()\n")
    told = [(step.kind, step.op) for step in trace.timeline if step.kind in ("op", "hook")]
    assert told[-2:] == [("op", trace.ops[-1].id), ("hook", None)]


def test_a_hook_that_writes_into_its_gradient_changed_it() -> None:
    trace = _trace("""
x.register_hook(lambda grad: grad.mul_(2) and None if False else grad.mul_(2).new_zeros(()).data_ptr() and None)
(x * 3).sum().backward()
""")
    (hook,) = trace.hooks
    assert (_data(trace, hook.before), _data(trace, hook.after)) == ((3.0, 3.0), (6.0, 6.0))


def test_hooks_fire_in_autograd_grad_though_no_visit_comes() -> None:
    trace = _trace("""
x.register_hook(lambda grad: grad * 2)
torch.autograd.grad((x * 3).sum(), x)
""")
    (hook,) = trace.hooks
    assert _data(trace, trace.passes[0].results[0]) == (6.0, 6.0) == _data(trace, hook.after)
    (step,) = [step for step in trace.timeline if step.kind == "hook"]
    assert step.visit is None


def test_a_sum_that_only_a_hook_saw_is_no_step() -> None:
    trace = _trace("""
x.register_hook(lambda grad: grad * 2)
w = torch.tensor([3.0, 4.0], requires_grad=True)
torch.autograd.grad((w * (x * 3 + x * 4) + w * w).sum(), (x, w))
(x * 3 + x * 4).sum().backward()
""")
    told = [(step.pass_id, step.visit, step.input_nr) for step in trace.timeline if step.kind == "sum"]
    sums = [
        (pass_.id, index, met.input_nr)
        for pass_ in trace.passes
        for index, visit in enumerate(pass_.visits)
        for met in visit.sums
        if len(met.terms) > 1
    ]
    assert told == sums


def test_passes_inside_hooks_and_hooks_registered_inside_them() -> None:
    trace = _trace("""
w = torch.tensor(2.0, requires_grad=True)
def inner(grad):
    with torch.enable_grad(): (w * w).backward()
    leaf.register_hook(late)
def late(grad): return grad * 2
leaf = torch.tensor([1.0], requires_grad=True)
y = (leaf * 1) * x
y.register_hook(inner)
y.sum().backward()
""")
    assert _fired(trace) == [("tensor", "inner"), ("tensor", "late")]
    assert [pass_.parent for pass_ in trace.passes] == [None, "p1"]


def test_a_hook_that_changes_what_another_changes_meanwhile_is_told_first() -> None:
    trace = _trace("""
inside = torch.tensor([2.0], requires_grad=True)
inside.register_hook(lambda grad: grad * 3)
def outer(grad):
    with torch.enable_grad(): (inside * inside).sum().backward()
    return grad * 2
leaf = torch.tensor([1.0], requires_grad=True)
leaf.register_hook(outer)
leaf.sum().backward()
""")
    assert [step.hook for step in trace.timeline if step.hook] == ["h2", "h1"]


def test_hooks_are_told_in_threads() -> None:
    trace = _trace("""
import threading
def work(leaf):
    leaf.register_hook(lambda grad: grad * 2)
    for turn in range(5): (leaf * leaf).sum().backward()
leaves = [torch.ones(2, requires_grad=True) for _ in range(3)]
threads = [threading.Thread(target=work, args=(leaf,)) for leaf in leaves]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    assert len(trace.hooks) == 15
    assert {len({hook.pass_id for hook in trace.hooks if hook.tensor == leaf}) for leaf in _on(trace.hooks)} == {5}


def _on(hooks: Sequence[HookCall]) -> set[str | None]:
    return {hook.tensor for hook in hooks}


def test_firings_are_bounded() -> None:
    code = "x.register_hook(lambda grad: None)\ny = x * 2\nfor turn in range(50): y.sum().backward(retain_graph=True)\n"
    trace = record(HEAD + code, replace(DEFAULT_LIMITS, ops=20))
    (cut,) = [cut for cut in trace.truncated if cut.what == "hooks"]
    assert (len(trace.hooks), cut.kept, cut.omitted, cut.limit) == (20, 20, 30, "ops")


# What the program sees


INVISIBLE = {
    "dictionaries": "x.register_hook(hook); print(x._backward_hooks[0] is hook, type(x._backward_hooks), x._post_accumulate_grad_hooks)",
    "numbers": "print([x.register_hook(hook).id for _ in range(3)], net.register_forward_hook(fhook).id)",
    "modules": "net.register_forward_hook(fhook); net(x); print([h is fhook for h in net._forward_hooks.values()], "
    "copy.deepcopy(net)._forward_hooks.popitem()[1] is fhook, len(pickle.dumps(net)))",
    "removal": "handle = x.register_hook(hook); (x * 2).sum().backward(); handle.remove(); print(len(x._backward_hooks)); "
    "(x * 2).sum().backward(); print(x.grad)",
    "removal inside": "def once(grad):\n    handle.remove()\n    return grad * 2\nhandle = x.register_hook(once)\n"
    "for _ in range(2): (x * 2).sum().backward()\nprint(x.grad, len(x._backward_hooks))",
    "context": "with net.register_forward_hook(fhook): print(net(x))\nprint(net(x), len(net._forward_hooks))",
    "wrong answer": "x.register_hook(lambda grad: 'no')\ntry: (x * 2).sum().backward()\nexcept Exception as error: print(type(error), error)",
    "wrong shape": "def bad(grad): return grad.new_zeros(3)\nx.register_hook(bad)\n"
    "try: (x * 2).sum().backward()\nexcept Exception as error: print(type(error), error)",
    "traceback": "import traceback\ndef bad(grad): raise KeyError('no')\nx.register_hook(bad)\n"
    "try: (x * 2).sum().backward()\nexcept KeyError: print(traceback.format_exc())",
    "traceback of a module": "import traceback\ndef bad(*args): raise KeyError('no')\nnet.register_forward_pre_hook(bad)\n"
    "try: net(x)\nexcept KeyError: print(traceback.format_exc())",
    "weak": "import weakref, gc\nclass Big:\n    def __call__(self, grad): return None\nbig = Big(); seen = weakref.ref(big)\n"
    "y = x * 2; y.register_hook(big); y.sum().backward(); del y, big; gc.collect(); print(seen() is None)",
    "not tracked": "try: torch.ones(2).register_hook(hook)\nexcept RuntimeError as error: print(error)",
    "warnings": "import warnings\nwith warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n"
    "    x.register_hook(hook); pickle.dumps(x)\nprint([str(w.message).split(' at ')[0] for w in caught])",
    "printed in the hook": "def look(grad): print(list(x._backward_hooks.values())[0] == look, repr(look)[:14])\n"
    "x.register_hook(look); (x * 2).sum().backward()",
    "unfinished module": "class Bare(torch.nn.Module):\n    def __init__(self): pass\n    def forward(self, x): return x\n"
    "try: Bare()(x)\nexcept AttributeError as error: print(error)",
}  # fmt: skip
SHOWN = """
import torch, copy, pickle, functools
x = torch.tensor([1.0, 2.0], requires_grad=True)
net = torch.nn.ReLU()
def hook(grad): return grad * 3
def fhook(module, args, output): return output + 1
"""


def _plain(code: str, path: Path) -> str:
    """What a program prints without recording, in a fork of this process."""
    child = os.fork()
    if child == 0:
        try:
            with path.open("w") as output, contextlib.redirect_stdout(output):
                warnings.resetwarnings()
                RemovableHandle.next_id = 0  # as in a new process
                module = types.ModuleType("__main__")
                sys.modules["__main__"] = module
                linecache.cache["<program>"] = (len(code), None, code.splitlines(keepends=True), "<program>")
                exec(compile(code, "<program>", "exec"), module.__dict__)
        except BaseException:
            path.write_text(traceback.format_exc())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return path.read_text()


@pytest.mark.parametrize("name", INVISIBLE)
def test_programs_cannot_notice(name: str, tmp_path: Path) -> None:
    code = SHOWN + INVISIBLE[name] + "\n"
    trace = record(code)
    assert trace.failure is None, trace.failure.traceback
    plain = _plain(code, tmp_path / "output")

    def same(text: str) -> str:
        return re.sub(r'File "/[^"]*/(?:site-packages|python3\.\d+)/', 'File "', re.sub(r"0x[0-9a-f]+", "0x", text))

    assert same(_output(trace)) == same(plain) != ""
