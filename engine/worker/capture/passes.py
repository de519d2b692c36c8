"""Backward passes: one hook on each node for the gradients on its edges, in the engine's own order.

All ways to backward end in `torch.autograd._engine_run_backward`; that one name is replaced. `Nodes` hooks each node
when it numbers it, and the hook stays: it is one function for all nodes, which asks the engine for the node that ran. A
hook that refers to its node is never collected (pytorch 2.13).
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import get_ident
from time import perf_counter_ns
from types import FrameType
from typing import Any, TypeAlias

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from engine.events import (
    Accumulated,
    ChangeWord,
    PassEnded,
    PassStarted,
    Role,
    Updated,
    Visited,
)
from engine.worker.capture.hooks import Hooks
from engine.worker.capture.nodes import NEVER, NO_SEQUENCE
from engine.worker.capture.ops import Recording
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name, plain_message
from engine.worker.capture.tensor_facts import TensorFacts, is_fake, look, version_of
from engine.worker.capture.tensor_state import State
from engine.worker.devices.labels import follow, labelled
from engine.worker.pytorch.internals import (
    MAKE_GRADS,
    REGISTER_NODE_HOOK,
    RUN_BACKWARD,
    current_node,
    disable_torch_function,
    function_mode_at,
    function_mode_count,
    get_frame,
    next_sequence_nr,
)
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import Patches

Node: TypeAlias = Any  # PyTorch's nodes have no static type
_OURS = -1
"""Key of our hook among those of a node; those of the user's are numbered from 0."""

Arrival = tuple[int, int, int, TensorFacts]
"""Record, address, version and look of a gradient on an edge."""
Input = int | tuple[int, int]
"""An input of a node: its number and input_nr, or the number alone for the first."""


def _input(node: int, input_nr: int) -> Input:
    return (node, input_nr) if input_nr else node


def _arrive(arrived: dict[Input, Arrival | list[Arrival]], key: Input, arrival: Arrival) -> None:
    before = arrived.get(key)
    if before is None:
        arrived[key] = arrival
    elif isinstance(before, list):
        before.append(arrival)
    else:
        arrived[key] = [before, arrival]


class _Pass:
    """One running call of the engine."""

    __slots__ = (
        "arrived", "before", "entering", "id", "last_ns", "leaving", "left", "omitted", "roots", "sequence_nr", "sums",
        "threads",
    )  # fmt: skip

    def __init__(self, number: int) -> None:
        self.id = number
        self.arrived: dict[Input, Arrival | list[Arrival]] = {}
        """Gradients that have left one node and not entered the next; a list where there are several."""
        self.entering: dict[Input, Arrival] = {}
        """Gradients the user's hooks were given or gave, at the inputs of the node that runs."""
        self.leaving: dict[int, Arrival] = {}
        """The same for gradients that leave it, by their objects."""
        self.before: dict[int, int] = {}
        """Record of each leaf's `.grad` before this pass adds to it; a hook of the user's may meet the sum first."""
        self.sums: dict[int, Arrival] = {}
        """A leaf's `.grad` before the user's hooks could change it again."""
        self.left: dict[int, int] = {}
        """Record of the `.grad` that each leaf was left with, by the leaf's first record."""
        self.roots: list[Node] = []
        """Held: nobody else may hold the AccumulateGrad of a leaf that is a root, and another would have no hook."""
        self.last_ns = 0
        self.omitted = 0
        """Nodes that run unseen."""
        self.sequence_nr = 0
        """Nodes made since it began have this number or a higher one: also sums that enter a node only after others
        have run."""
        self.threads: torch.autograd.grad_mode.set_multithreading_enabled | None = None
        """Off while it runs: else the nodes of each accelerator would run on a thread of its own, in no order with the
        others (pytorch 2.13: `Engine::ready_queue`)."""


def address_of(tensor: torch.Tensor) -> int:
    """Where its elements are; 0 for tensors without memory of their own."""
    try:
        return tensor.data_ptr() if type(tensor) is torch.Tensor or not is_fake(tensor) else 0
    except Exception:
        return 0


class Backward:
    """Stands in for `_engine_run_backward` and `_make_grads` of `torch.autograd`."""

    def __init__(self, recorder: Recorder, mode: Recording, hooks: "Hooks") -> None:
        self.recorder = recorder
        self.hooks = hooks
        hooks.backward = self
        self.mode = mode
        self.patches = Patches()
        self.engine: Callable[..., Any] = RUN_BACKWARD.get()
        self.make: Callable[..., Any] = MAKE_GRADS.get()
        self.check: Callable[..., Any] | None = None
        """Stands around the engine for one who checks what it gives: it gets the engine as the first argument."""
        self.stacks: dict[int, list[_Pass]] = {}
        """Running passes of each thread: the engine runs on the thread that calls it, see `_Pass.threads`."""
        self.register: Callable[..., Any] = REGISTER_NODE_HOOK.get()
        self.hook = self.visit
        self.implicit: tuple[bool, ...] = ()

    def install(self) -> None:
        """Replaces the names, and has the nodes hook what it numbers."""
        self.recorder.nodes.watch(self.hook)
        self.patches.replace(REGISTER_NODE_HOOK, staticmethod(self.register_hook))
        self.patches.replace(RUN_BACKWARD, self.run)
        self.patches.replace(MAKE_GRADS, self.make_grads)

    def uninstall(self) -> None:
        """Puts them back."""
        self.patches.undo()

    def register_hook(self, hooks: Any, hook: Any) -> tuple[Any, Any]:
        """What PyTorch does to register a hook on a node; ours needs no handle, and stays the last one, which sees what
        the others made of the gradients."""
        if hook is not self.hook:
            made: tuple[Any, Any] = self.register(hooks, hook)
            if hooks is not None and _OURS in hooks:
                hooks[_OURS] = hooks.pop(_OURS)  # PyTorch goes by the order of insertion
            return made
        if hooks is None:
            hooks = OrderedDict()
        hooks[_OURS] = hook
        return hooks, None

    def make_grads(self, outputs: Sequence[Any], grads: Sequence[Any], is_grads_batched: bool) -> Any:
        """Notes which seeds are implicit. Where there can be none, the call fails before the engine begins."""
        try:
            with disable_torch_function():
                made = self.make(outputs, grads, is_grads_batched=is_grads_batched)
        except Exception as error:
            self._tell_refused(outputs, error, get_frame(1))
            raise
        self.implicit = tuple(grad is None for grad in grads)
        return made

    def _tell_refused(self, outputs: Sequence[Any], error: Exception, call: FrameType) -> None:
        """Tells of a call of `backward` or `grad` that failed before the engine began."""
        recorder = self.recorder
        if recorder.thread.muted or recorder.closed:
            return
        given = call.f_locals
        retain, create = bool(given.get("retain_graph")), bool(given.get("create_graph"))
        with recorder.telling("backward"):
            running = self._start(outputs, (), retain, create, (), accumulate=call.f_code.co_name == "backward")
            recorder.pass_raised(error, running.id)
            self._end(running, error, ())

    def run(self, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Runs the engine as it was called."""
        if self.check is not None:
            return self.check(self._run, outputs, *args, **kwargs)
        return self._run(outputs, *args, **kwargs)

    def _run(self, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        running: _Pass | None = None
        sampler = self.recorder.sampler
        sampler.turn(get_frame(), again=True)
        if sampler.muted:
            self.implicit = ()
            return sampler.pass_over(self.engine, outputs, args, kwargs)
        try:
            with self.recorder.lock, unseen():
                grads, retain, create, inputs = args[:4]
                accumulate = bool(kwargs.get("accumulate_grad", True))
                running = self._start(outputs, grads, bool(retain), bool(create), inputs, accumulate)
        except Exception as trouble:
            self.recorder.trouble("backward", trouble)
        failed: BaseException | None = None
        result: Any = ()
        try:
            if self._active():
                result = self.engine(outputs, *args, **kwargs)
            else:  # torch took the mode off to handle Tensor.backward; hooks and custom backwards are the user's again
                with self.mode:
                    result = self.engine(outputs, *args, **kwargs)
            return result
        except BaseException as error:
            failed = error
            if running is not None:
                self.recorder.pass_raised(error, running.id)
            raise
        finally:
            if running is not None:
                with self.recorder.lock, unseen():
                    self._end(running, failed, result)
                    if not self.recorder.thread.passes:
                        sampler.passed(get_frame())

    def _active(self) -> bool:
        count = function_mode_count()
        return any(function_mode_at(i) is self.mode for i in range(count))

    # Start

    def _start(
        self, outputs: Sequence[Any], grads: Sequence[Any], retain: bool, create: bool, inputs: Sequence[Any],
        accumulate: bool,
    ) -> _Pass:  # fmt: skip
        recorder = self.recorder
        nodes = recorder.nodes
        nodes.begin(0, NEVER)
        running = _Pass(recorder.counts.new_pass())
        roots, numbers = self._roots(outputs, grads, running)
        edges = [self._input_edge(item) for item in inputs or ()]
        self._note_gradients(numbers, running)
        recorder.lifetimes.flush()
        stack, modules = recorder.thread.passes, recorder.thread.modules
        recorder.outbox.add(PassStarted(
            running.id, "backward" if accumulate else "grad", tuple(roots), recorder.sites.of(get_frame(2)), retain,
            create,
            tuple(self._input_tensor(item) for item in inputs) if inputs else None,
            tuple(edges) if inputs else None,
            stack[-1] if stack else 0, modules[-1] if modules else 0, running.omitted, recorder.thread.number,
        ))  # fmt: skip
        recorder.outbox.publish()
        stack.append(running.id)
        self.stacks.setdefault(get_ident(), []).append(running)
        running.sequence_nr = next_sequence_nr()
        self.hooks.begin_pass()
        running.threads = torch.autograd.set_multithreading_enabled(False)
        running.last_ns = perf_counter_ns()
        return running

    def _roots(
        self, outputs: Sequence[Any], grads: Sequence[Any], running: _Pass
    ) -> tuple[list[tuple[int, int, int, int, bool]], list[int]]:
        recorder = self.recorder
        roots: list[tuple[int, int, int, int, bool]] = []
        numbers: list[int] = []
        implicit = self.implicit
        self.implicit = ()
        for index, output in enumerate(outputs):
            tensor, node, input_nr = 0, None, 0
            if isinstance(output, torch.Tensor):
                tensor = recorder.tensors.meet(output, "result").id
                if output.requires_grad:
                    edge = get_gradient_edge(output)
                    node, input_nr = edge.node, edge.output_nr
            elif isinstance(output, GradientEdge):
                node, input_nr = output.node, output.output_nr
            number = 0
            if node is not None:
                number = recorder.nodes.number(node)
                numbers.append(number)
                running.roots.append(node)
            grad = grads[index] if grads is not None and index < len(grads) else None
            seed = 0
            if isinstance(grad, torch.Tensor):
                if labelled and isinstance(output, torch.Tensor):
                    follow(grad, output)
                state = recorder.tensors.state(grad)
                if state is None or state.version != version_of(grad):
                    state = self._keep(grad, "seed")
                seed = state.id
                if number:
                    arrival = (seed, address_of(grad), version_of(grad), state.look)
                    _arrive(running.arrived, _input(number, input_nr), arrival)
            roots.append((number, input_nr, tensor, seed, index < len(implicit) and implicit[index]))
        return roots, numbers

    def _keep(self, tensor: torch.Tensor, role: Role) -> State:
        return self.recorder.tensors.record(tensor, role, look(tensor))

    def _input_tensor(self, item: Any) -> int:
        return self.recorder.tensors.meet(item).id if isinstance(item, torch.Tensor) else 0

    def _input_edge(self, item: Any) -> tuple[int, int]:
        """The edge whose gradient is asked for; that of a leaf exists only when some graph uses the leaf."""
        if isinstance(item, GradientEdge):
            return self.recorder.nodes.number(item.node), item.output_nr
        if not isinstance(item, torch.Tensor):
            return 0, 0
        if item.grad_fn is not None:
            return self.recorder.nodes.number(item.grad_fn), item.output_nr
        return self.recorder.nodes.sinks.get(self.recorder.tensors.meet(item).first, 0), 0

    def _note_gradients(self, roots: list[int], running: _Pass) -> None:
        """Records what `.grad` the leaves behind the roots have."""
        nodes = self.recorder.nodes
        edges, leaves = nodes.edges, nodes.leaves
        seen: set[int] = set()
        gaps = False
        todo = roots
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            targets = edges.get(number)
            if targets:
                for target in targets[::2]:
                    if target:
                        todo.append(target)
            elif number in leaves:
                self._sync(number, running)
            elif targets is None:
                gaps = True
        if gaps:
            self._cross_gaps(running)

    def _sync(self, number: int, running: _Pass) -> None:
        leaf = self.recorder.nodes.leaves[number].ref()
        if leaf is not None and number not in running.before:
            running.before[number] = self.sync_grad(leaf, self.recorder.tensors.meet(leaf, "leaf"))

    def _cross_gaps(self, running: _Pass) -> None:
        """Counts the nodes that have no number, left out or forgotten, and numbers the leaves behind them."""
        nodes = self.recorder.nodes
        seen: set[Node] = set()
        todo = list(running.roots)
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            todo.extend(target for target, _ in node.next_functions if target is not None)
            if hasattr(node, "variable"):
                self._sync(nodes.number(node), running)
            elif nodes.known(node) is None:
                running.omitted += 1

    def sync_grad(self, leaf: torch.Tensor, state: State) -> int:
        """Record of the leaf's `.grad` as it is now, 0 for None."""
        grad = leaf.grad
        last = 0 if state.grad is None else state.grad.id
        if grad is None:
            state.grad = None
        else:
            if labelled:
                follow(grad, leaf)
            kept = self.recorder.tensors.meet(grad, "gradient")
            # an op that was left out may have written through `.data`
            if self.recorder.counts.ops_omitted and not look(grad).tells_the_same(kept.look):
                self.recorder.tensors.renew(grad, kept)
            self.recorder.tensors.keep_grad(kept, state)
        now = 0 if state.grad is None else state.grad.id
        if (
            now != last and self.recorder.sampler.full and not self.recorder.nodes.threaded
        ):  # by code that nothing of ours sees, such as `set_`
            self.recorder.updates.add(Updated(0, "outside", (ChangeWord(last, now, leaf=state.first),)))
        return now

    # Visits

    def _say(self, grad: torch.Tensor, seen: TensorFacts) -> int:
        """Records a gradient on its way; it gets a state only if it stays."""
        recorder = self.recorder
        number = recorder.counts.new_tensor(seen.data)
        node = output_nr = 0
        requires_grad = grad.requires_grad
        if requires_grad and (made_by := grad.grad_fn) is not None:
            node, output_nr = recorder.nodes.number(made_by), grad.output_nr
        recorder.outbox.add(seen.said(number, "gradient", 0, 0, requires_grad, node, output_nr, 0, 0))
        return number

    def visit(self, left: tuple[Any, ...], entered: tuple[Any, ...]) -> None:
        """The hook: a node has run."""
        recorder = self.recorder
        stack = self.stacks.get(get_ident())
        if not stack or recorder.thread.muted:
            return
        try:
            if recorder.nodes.threaded:
                with recorder.lock, unseen():
                    self._visit(stack[-1], left, entered)
            else:
                with unseen():
                    self._visit(stack[-1], left, entered)
        except Exception as trouble:
            recorder.trouble("visit", trouble)

    # Gradients the user's hooks are given

    def entering(self, node: int, input_nr: int, grad: torch.Tensor, new: bool) -> int:
        """Record of a gradient as a hook before a node is given it; `new`: that it gave back, maybe a view of the
        other."""
        running = self.stacks[get_ident()][-1]
        key = _input(node, input_nr)
        address, version = address_of(grad), grad._version
        for known in () if new else self._candidates(running, key, running.arrived.get(key)):
            if known[1] == address and known[2] == version:
                return known[0]
        kept = running.entering[key] = self._arrival(grad)
        return kept[0]

    def leaving(self, grad: torch.Tensor, new: bool) -> int:
        """Record of a gradient as a hook after a node is given it, or gave it back."""
        running = self.stacks[get_ident()][-1]
        leaving = running.leaving
        known = leaving.get(id(grad))
        if new or known is None or known[1] != address_of(grad) or known[2] != grad._version:
            known = leaving[id(grad)] = self._arrival(grad)
        return known[0]

    def _arrival(self, grad: torch.Tensor) -> Arrival:
        seen = look(grad)
        return self._say(grad, seen), address_of(grad), grad._version, seen

    def summed(self, node: int) -> None:
        """Notes the `.grad` of a leaf right after it was added to, before a hook of the user's gets hold of it."""
        running = self.stacks[get_ident()][-1]
        known = self.recorder.nodes.leaves.get(node)
        leaf = None if known is None else known.ref()
        if leaf is not None and node not in running.sums:
            grad = leaf.grad
            if grad is not None:
                state = self.recorder.tensors.meet(leaf, "leaf")
                running.before[node] = 0 if state.grad is None else state.grad.id
                kept = self.recorder.tensors.meet(grad, "gradient")
                self.recorder.tensors.keep_grad(kept, state)
                running.sums[node] = (kept.id, address_of(grad), version_of(grad), kept.look)

    def _visit(self, running: _Pass, left: tuple[Any, ...], entered: tuple[Any, ...]) -> None:
        now = perf_counter_ns()
        recorder = self.recorder
        if self.hooks.fresh:
            self.hooks.look_again()
        nodes = recorder.nodes
        node: Any = current_node()
        sequence = node._sequence_nr()
        number = nodes.known(node) if nodes.threaded or sequence == NO_SEQUENCE else nodes.numbers.get(sequence)
        if number is None:  # left out, or forgotten
            running.last_ns = now
            return
        nodes.begin(0, running.sequence_nr, number)
        said: dict[int, Arrival] = {}
        ins = self._entered(running, number, entered, said, sequence == NO_SEQUENCE)
        outs = self._left(running, number, left, said)
        took_us = (now - running.last_ns) / 1000
        dead = recorder.lifetimes.take() if recorder.lifetimes.dead else ()
        recorder.outbox.add(Visited(running.id, number, ins, outs, took_us, dead))
        # what was frozen since the graph was made is visited, and keeps nothing of what arrives
        if sequence == NO_SEQUENCE and ins and ins[0] and number in nodes.leaves and node.variable.requires_grad:
            self._accumulated(number, node.variable, said[id(entered[0])], running)
        running.leaving.clear()
        recorder.outbox.publish()
        if recorder.thread.after_visit:
            recorder.outbox.release(recorder.thread.after_visit)
        nodes.end_visit()
        running.last_ns = perf_counter_ns()

    def _entered(
        self, running: _Pass, number: int, entered: tuple[Any, ...], said: dict[int, Arrival], at_leaf: bool
    ) -> tuple[int, ...]:
        """Records of the gradients that entered a node; `said` gets them by their objects."""
        ins: list[int] = []
        for input_nr, grad in enumerate(entered):
            arrivals = running.arrived.pop(_input(number, input_nr), None)
            if grad is None:
                ins.append(0)
                continue
            address, version = address_of(grad), grad._version
            if running.entering or running.sums:
                arrival = self._met_by_hooks(running, number, input_nr, grad, arrivals, at_leaf)
            elif type(arrivals) is tuple and arrivals[1] == address and arrivals[2] == version:
                arrival = arrivals
            else:
                seen = look(grad)
                arrival = (self._say(grad, seen), address, version, seen)
            said[id(grad)] = arrival
            ins.append(arrival[0])
        return tuple(ins)

    def _left(self, running: _Pass, number: int, left: tuple[Any, ...], said: dict[int, Arrival]) -> tuple[int, ...]:
        """Records of the gradients that left a node; they arrive at the next ones."""
        given = next(reversed(said.values()))[3] if said else None
        outs: list[int] = []
        edges = self.recorder.nodes.edges[number]
        for slot, grad in enumerate(left):
            if grad is None:
                outs.append(0)
                continue
            known = said.get(id(grad))
            if running.leaving:
                known = self._changed(running, grad, known)
            if known is None:
                seen = look(grad, False, given)
                known = said[id(grad)] = (self._say(grad, seen), address_of(grad), grad._version, seen)
            outs.append(known[0])
            if edges[2 * slot] > 0:  # else it was computed, but nobody asked for it
                _arrive(running.arrived, _input(edges[2 * slot], edges[2 * slot + 1]), known)
        return tuple(outs)

    @staticmethod
    def _candidates(running: _Pass, key: Input, arrivals: Arrival | list[Arrival] | None) -> list[Arrival]:
        """What a gradient at an input may be: the one that a hook gave last, or the only one that arrived."""
        kept = running.entering.get(key)
        alone = [arrivals] if isinstance(arrivals, tuple) else []
        return alone if kept is None else [kept, *alone]

    def _met_by_hooks(
        self,
        running: _Pass,
        number: int,
        input_nr: int,
        grad: torch.Tensor,
        arrivals: Arrival | list[Arrival] | None,
        at_leaf: bool,
    ) -> Arrival:
        """What entered a node at whose input hooks were. A leaf may have taken the gradient itself as its `.grad`,
        and a hook have written into it since."""
        address, version = address_of(grad), grad._version
        total = running.sums.get(number)
        for arrival in self._candidates(running, _input(number, input_nr), arrivals):
            if arrival[1] == address and (arrival[2] == version or at_leaf):
                return arrival
        if total is not None and total[1] == address and total[2] != version:
            return total
        return self._arrival(grad)

    @staticmethod
    def _changed(running: _Pass, grad: torch.Tensor, known: Arrival | None) -> Arrival | None:
        """What a hook after the node gave, or `known`."""
        changed = running.leaving.get(id(grad))
        if changed is None or changed[1:3] != (address_of(grad), grad._version):
            return known
        return changed if known is None or known[1:3] != changed[1:3] else known

    def _accumulated(self, number: int, leaf: torch.Tensor, delta: Arrival, running: _Pass) -> None:
        recorder = self.recorder
        state = recorder.tensors.meet(leaf, "leaf")
        before = running.before.get(number, 0)
        last = 0 if state.grad is None else state.grad.id
        grad = leaf.grad
        after = 0
        if grad is not None:
            if labelled:
                follow(grad, leaf)
            kept = recorder.tensors.state(grad)
            if kept is None:
                seen = delta[3] if address_of(grad) == delta[1] else look(grad)
                kept = recorder.tensors.record(grad, "gradient", seen)
            else:
                recorder.tensors.meet(grad)
            recorder.tensors.keep_grad(kept, state)
            after = kept.id
        running.before[number] = after
        if running.sums and (total := running.sums.pop(number, None)) is not None:
            after = total[0]
        elif last != after:
            before = last  # another thread, or a hook of another node, may have changed it since the pass began
        running.left[state.first] = after
        recorder.outbox.add(Accumulated(running.id, number, state.first, before, delta[0], after))

    # End

    def _end(self, running: _Pass, error: BaseException | None, result: Any) -> None:
        recorder = self.recorder
        if running.threads is not None:
            running.threads.__exit__(None, None, None)
        self.hooks.end_pass()
        self.stacks[get_ident()].remove(running)
        results: tuple[int, ...] = ()
        try:
            recorder.nodes.begin(0, running.sequence_nr)
            if error is not None:
                self._end_sums(running)
            if isinstance(result, tuple | list):
                results = tuple([self._result(item, running) for item in result])
        except Exception as trouble:
            recorder.trouble("backward", trouble)
        recorder.outbox.release(recorder.thread.after_visit)
        if recorder.thread.parallel:
            self._tell_reduced(running)
        if (until := next_sequence_nr()) > running.sequence_nr:
            recorder.nodes.made_aside(running.sequence_nr, until, 0, running.id)
        recorder.nodes.begin(0, NEVER)
        recorder.thread.passes.remove(running.id)
        recorder.lifetimes.flush()
        said = ("", "")
        if isinstance(error, Exception):
            said = class_name(error), recorder.texts.of(plain_message(error))
        recorder.outbox.add(PassEnded(running.id, error is not None, results, said))
        recorder.outbox.publish()

    def _end_sums(self, running: _Pass) -> None:
        """Tells of leaves that were added to where a hook raised before the node's own end."""
        for number, total in running.sums.items():
            key = _input(number, 0)
            known = self._candidates(running, key, running.arrived.pop(key, None))
            delta = known[0][0] if known else 0
            leaf = self.recorder.nodes.leaves[number].ref()
            state = self.recorder.tensors.meet(leaf, "leaf") if leaf is not None else None
            if state is None:
                continue
            self.recorder.outbox.add(Visited(running.id, number, (delta,), (), 0.0, ()))
            self.recorder.outbox.add(
                Accumulated(running.id, number, state.first, running.before[number], delta, total[0])
            )

    def _tell_reduced(self, running: _Pass) -> None:
        """Says which gradients the ranks have made the same in this pass: C++ has written them."""
        changes = []
        for leaf in self.recorder.thread.parallel:
            state = self.recorder.tensors.meet(leaf, "leaf")
            before = running.left.get(state.first, 0 if state.grad is None else state.grad.id)
            after = self.sync_grad(leaf, state)
            if before != after:
                changes.append(ChangeWord(before, after, leaf=state.first))
        if changes:
            site = self.recorder.sites.of(get_frame())
            self.recorder.updates.add(Updated(0, "collective", tuple(changes), site=site, pass_id=running.id))

    def _result(self, item: Any, running: _Pass) -> int:
        if not isinstance(item, torch.Tensor):
            return 0
        known = self.recorder.tensors.state(item)
        if known is not None:
            return known.id
        address, version = address_of(item), version_of(item)
        for arrival in (*running.arrived.values(), *running.entering.values()):
            if isinstance(arrival, tuple) and arrival[1] == address and arrival[2] == version and address:
                return self.recorder.tensors.adopt(item, "gradient", arrival[0], arrival[3]).id
        return self._keep(item, "gradient").id
