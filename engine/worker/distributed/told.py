"""Collectives as ops: with what each rank gave and got."""

import itertools
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from engine.events import BucketReduced, RankSeen
from engine.worker.capture.op_names import Called
from engine.worker.capture.ops import Recording, tensors_in
from engine.worker.capture.passes import Backward
from engine.worker.capture.thread_state import Bucket
from engine.worker.pytorch.internals import buckets_of, current_node, function_mode_enabled, get_frame
from engine.worker.pytorch.modes import unseen

PARALLEL = "torch.nn.parallel.DistributedDataParallel"


class Told:
    """Says what ranks do. A call such as `dist.all_reduce` is an op already, for PyTorch hands it to the mode; those
    that `DistributedDataParallel` makes by itself, and `barrier`, come past it."""

    def __init__(self, mode: Recording, backward: Backward) -> None:
        self._mode = mode
        self._backward = backward
        self._called: dict[str, Called] = {}
        self._numbers = itertools.count(1)

    def next_number(self) -> int:
        """Of a meeting."""
        return next(self._numbers)

    def met(self, number: int) -> None:
        """The op that runs in this thread was this meeting, the last one where it was several."""
        thread = self._mode.thread
        if not thread.muted and not function_mode_enabled():
            thread.collective = number

    def rank(self, rank: int, size: int) -> None:
        """This thread is one of several ranks."""
        if size > 1:
            self._mode.recorder.outbox.say(RankSeen(self._mode.thread.number, rank))

    def run(
        self, name: str, given: object, meet: Callable[[], tuple[Any, int]], keywords: dict[str, Any] | None = None
    ) -> Any:
        """Runs a collective, as an op of its own where it is not part of one; `meet` gives the number of the
        meeting too."""
        mode, tensors = self._mode, tensors_in(given)
        if not function_mode_enabled():
            work, number = meet()
            self.met(number)
            return work
        if mode.thread.muted or mode.over or not all(tensor.is_floating_point() for tensor in tensors):
            return meet()[0]
        if name not in self._called:
            self._called[name] = mode.introduce(Called(name, f"torch.distributed.{name}"))
        return self._told(self._called[name], tensors, meet, keywords or {})

    def _told(
        self, called: Called, tensors: list[torch.Tensor], meet: Callable[[], tuple[Any, int]], keywords: dict[str, Any]
    ) -> Any:
        recorder, thread = self._mode.recorder, self._mode.thread
        at_node = current_node() is not None
        kept: list[Any] = []

        def run(*given: torch.Tensor, **_: object) -> None:
            work, thread.collective = meet()
            if at_node and called.name == "all_reduce":
                self._tell_bucket(thread.collective, tensors)
            kept.append(work)
            if at_node:
                kept.append(recorder.outbox.divert(thread.after_visit))

        try:
            self._mode.call(called, run, tuple(tensors), keywords, get_frame(1))
        finally:
            if len(kept) > 1:
                recorder.outbox.divert(kept[1])
        return kept[0]

    def _tell_bucket(self, number: int, tensors: list[torch.Tensor]) -> None:
        """Buckets are reduced in their order, whatever was ready first."""
        recorder, thread = self._mode.recorder, self._mode.thread
        pass_, before = thread.reduced
        at = before if pass_ == thread.running_pass else 0
        thread.reduced = thread.running_pass, at + 1
        bucket = thread.buckets[at] if thread.buckets is not None and at < len(thread.buckets) else None
        if bucket is not None and bucket.elements == sum(tensor.numel() for tensor in tensors):
            recorder.outbox.say(BucketReduced(number, thread.number, bucket.parameters))

    def forwarded(self, module: Any) -> None:
        """A parallel model has run: PyTorch makes other buckets in the second forward, by what was ready first."""
        thread = self._mode.thread
        if thread.buckets is None or thread.muted or not torch.is_grad_enabled():
            return
        state = self._mode.recorder.tensors.state
        with unseen():
            thread.buckets = [
                Bucket(sum(map(torch.Tensor.numel, parameters)), tuple([known.first for known in states if known]))
                for parameters in buckets_of(module)
                for states in [[state(parameter) for parameter in parameters]]
            ]

    def spread(self, tensors: list[torch.Tensor], group: Any, source: int, name: str, run: Callable[[], Any]) -> None:
        """Runs what makes parameters or buffers of all ranks those of one: an op, however many broadcasts that is."""
        mode = self._mode
        if mode.thread.muted or mode.over or not tensors or not function_mode_enabled():
            run()
            return
        if name not in self._called:
            called = self._called[name] = mode.introduce(Called("broadcast", f"{PARALLEL}{name}", "spread"))
            called.writes_silently, called.quiet = True, False

        def spread(*_: object, **__: object) -> None:
            with unseen():
                run()

        source = dist.get_global_rank(group, source)
        mode.call(self._called[name], spread, (tensors,), {"src": source}, get_frame(1))

    def parallel(self, module: torch.nn.Module) -> None:
        """A parallel model was made: the gradients of its parameters will be made the same in all ranks."""
        recorder = self._mode.recorder
        shared = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if recorder.thread.parallel:
            recorder.thread.buckets = None
        recorder.thread.parallel += shared
        recorder.thread.is_internal = True
        try:
            for parameter in shared:
                watch: Callable[[Callable[[torch.Tensor], None]], object] = parameter.register_post_accumulate_grad_hook
                watch(self._added)
        finally:
            recorder.thread.is_internal = False

    def _added(self, leaf: torch.Tensor) -> None:
        """Notes a leaf's `.grad` as the node leaves it: hooks of C++ that come before ours write into it."""
        recorder = self._mode.recorder
        if recorder.thread.muted or not recorder.thread.passes:
            return
        with recorder.lock, unseen():
            number = recorder.nodes.known(current_node())
            if number is not None:
                self._backward.summed(number)
