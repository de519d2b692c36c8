"""Batches of a `DataLoader`: which samples of its dataset each one took, and which `drop_last` left out.

PyTorch's own samplers draw seeds and an order as tensors. Those are the loader's business and go unrecorded: the
indices say what came of them. Nothing of the program's is asked anything, not even `len(dataset)`, for it may print."""

import functools
import itertools
import operator
import weakref
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset

from engine.events import BatchTaken, Index
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import plain_text
from engine.worker.capture.thread_state import ThreadState
from engine.worker.pytorch.internals import LOADER_INDICES, LOADER_NEXT, get_frame
from engine.worker.pytorch.patching import EntryPoint, Patches

LOADER_ITER = EntryPoint(DataLoader, "__iter__")
MOST_INDICES = 128
_MOST_TENSORS = 16
_ENDED = object()
"""In place of a batch: there is none any more."""

Loader = DataLoader[Any]


class _Epoch:
    """The indices that an iterator over a loader draws, one batch after the other."""

    def __init__(self, loader: Loader, number: tuple[int, int], indices: Iterator[Any], thread: ThreadState) -> None:
        batches = loader.batch_sampler
        self.number = number
        self.batch = 0
        self._thread = thread
        self._is_ours = not _has_own_sampler(loader)
        self._is_listed = batches is not None  # else each index is a batch
        self._batch_of: object = None
        self._given: list[Any] = []
        """By the sampler, since the last batch: what is left of them at the end is what `drop_last` left out."""
        if type(batches) is BatchSampler:
            noting = SimpleNamespace(**{**vars(batches), "sampler": self._noting(batches.sampler)})
            indices = BatchSampler.__iter__(noting)  # type: ignore[arg-type]
        self._indices = indices

    def _noting(self, sampler: Iterable[Any]) -> Iterator[Any]:
        for index in sampler:
            self._given.append(index)
            yield index

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._thread.mute(self._is_ours)
        try:
            self._batch_of = drawn = next(self._indices)
        finally:
            self._thread.unmute(self._is_ours)
        self.batch += 1
        self._given.clear()
        return drawn

    def taken(self) -> list[Any]:
        """What the last batch was made of; empty where nobody can read it twice."""
        drawn = self._batch_of if self._is_listed else [self._batch_of]
        return list(drawn) if isinstance(drawn, list | tuple) else []

    def dropped(self) -> list[Any]:
        """What the sampler gave after the last batch."""
        self.batch = 0
        return self._given


class Batches:
    """Says what loaders hand out."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._numbers = itertools.count(1)
        self._epochs: weakref.WeakKeyDictionary[Loader, tuple[int, int]] = weakref.WeakKeyDictionary()
        """The number of each loader, and how often it was iterated over."""

    def install(self, patches: Patches) -> None:
        """Stands around the iterators of loaders."""
        iterate, fetch, batches = LOADER_ITER.get(), LOADER_NEXT.get(), self

        @functools.wraps(iterate)
        def __iter__(self: Loader) -> Any:  # noqa: N807
            return batches._begin(self, iterate)

        @functools.wraps(fetch)
        def _next_data(self: Any) -> Any:
            epoch = getattr(self, LOADER_INDICES)
            try:
                data = fetch(self)
            except StopIteration:
                batches._say(epoch, _ENDED)
                raise
            batches._say(epoch, data)
            return data

        patches.replace(LOADER_ITER, __iter__)
        patches.replace(LOADER_NEXT, _next_data)

    def _begin(self, loader: Loader, iterate: Any) -> Any:
        thread, is_ours = self._recorder.thread, not _has_own_sampler(loader)
        thread.mute(is_ours)  # it draws a seed for its workers
        try:
            made = iterate(loader)
        finally:
            thread.unmute(is_ours)
        if isinstance(loader.dataset, IterableDataset):  # its samples have no index
            return made
        try:
            number, epoch = self._epochs.get(loader) or (next(self._numbers), 0)
            self._epochs[loader] = number, epoch + 1
            indices = getattr(made, LOADER_INDICES)
            setattr(made, LOADER_INDICES, _Epoch(loader, (number, epoch + 1), indices, thread))
        except Exception as error:
            self._recorder.trouble("batch", error)
        return made

    def _say(self, epoch: object, data: object) -> None:
        recorder = self._recorder
        if recorder.closed or recorder.thread.muted or not isinstance(epoch, _Epoch):
            return
        if recorder.counts.ops_kept >= recorder.limits.ops:
            return
        with recorder.telling("batch"):
            given = epoch.dropped() if data is _ENDED else epoch.taken()
            if not given:
                return
            recorder.lifetimes.flush()
            indices = tuple([_index(one) for one in given[:MOST_INDICES]])
            site, thread = recorder.sites.of(get_frame(2)), recorder.thread.number
            told = *epoch.number, epoch.batch, indices, len(given), self._states(data), site, thread
            recorder.outbox.add(BatchTaken(*told))

    def _states(self, data: object) -> tuple[int, ...]:
        """Recorded tensors in what was handed out."""
        known = [self._recorder.tensors.state(tensor) for tensor in _tensors(data)]
        return tuple([state.id for state in known if state is not None][:_MOST_TENSORS])


def _has_own_sampler(loader: Loader) -> bool:
    """Whether code of the program's chooses the samples."""
    batches = loader.batch_sampler
    samplers = (loader.sampler,) if batches is None else (batches, getattr(batches, "sampler", batches))
    return not all(type(one).__module__.startswith("torch.") for one in samplers)


def _index(given: Any) -> Index:
    try:
        return operator.index(given)
    except TypeError:
        return plain_text(given)


def _tensors(data: object) -> Iterator[torch.Tensor]:
    if isinstance(data, torch.Tensor):
        yield data
    elif isinstance(data, list | tuple | dict):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _tensors(part)


__name__ = "__main__"
__warningregistry__ = None
