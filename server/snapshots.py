"""Snapshots: a trace with the view of it that somebody shared. Named by their content, immutable, never evicted."""

import asyncio
import contextlib
import gzip
import hashlib
import math
import re
import secrets
import time
import zlib
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import msgspec
import pydantic

from engine.formats import Step, UnreadableFormat, advanced, migrate
from engine.limits import MIB
from engine.trace import FORMAT as TRACE_FORMAT
from engine.trace import Trace
from server.cache import Cache
from server.problems import Problem
from server.rate_limit import RateLimit
from server.settings import Settings
from server.store import SnapshotStore, Stored, StoreDown, StoreFull, StoreSize, etag
from server.wire import SnapshotView

Format = Literal["gradgraph.snapshot/1"]
FORMAT: Final[Format] = "gradgraph.snapshot/1"
STEPS: dict[str, Step] = {}
"""Ways from older envelopes, by the format that a step starts from; the traces in them have their own."""
LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""Of base 58: none looks like another."""
LENGTHS = (12, 16, 22)
"""Letters of an id; a longer one is taken where other content has the shorter already. A run's id has 26."""
HOUR_S = 3600
OPENED_BYTES = 32 * 1024**2
"""Bytes of opened snapshots held, compressed."""

_ID = re.compile("|".join(f"[{LETTERS}]{{{length}}}" for length in LENGTHS))


class _Named(msgspec.Struct, frozen=True):
    """What stored things of all versions begin with."""

    format: str


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """A snapshot as it is stored: in itself all that is needed to show it."""

    format: str
    trace: msgspec.Raw
    """The trace; its id is empty here and that of the snapshot wherever it is read."""
    view: msgspec.Raw
    tensors: dict[str, bytes] = {}
    """Values of the larger tensors, as compressed .npy files in base 64, by tensor id."""


class Opened(NamedTuple):
    """A snapshot that was read."""

    stored: Stored
    """Its trace, as if it were that of a run with the snapshot's id."""
    view: SnapshotView


class Snapshots:
    """Makes, opens and gives up snapshots; as safe for concurrent use as its store.

    What is remembered of one is given only while the store still has it: a snapshot that was deleted is gone at once,
    on every server of the store."""

    def __init__(self, store: SnapshotStore, settings: Settings) -> None:
        self._store = store
        self._max_bytes = settings.snapshot_mb * MIB
        self._total_mb = settings.snapshots_mb
        self._rate = RateLimit(settings.snapshots_per_hour / HOUR_S, settings.snapshots_per_hour, time.monotonic)
        self._per_hour = settings.snapshots_per_hour
        self._opened: Cache[Opened] = Cache(OPENED_BYTES)

    def admit(self, address: str) -> None:
        """Let a network address make one more. Raises Problem."""
        if wait_s := self._rate.wait_s(address):
            raise Problem("too-many-snapshots", retry_after_s=math.ceil(wait_s), limit=self._per_hour)

    async def open(self, id: str) -> Opened | None:
        """The snapshot, or None when there is none. Raises StoreDown, and Problem for one of a foreign version."""
        if known := self._opened.get(id):
            with contextlib.suppress(StoreDown):
                if not await self._store.has_snapshot(id):
                    self._opened.drop(id)
                    return None
            return known
        if (body := await self._store.snapshot(id)) is None:
            return None
        read = await asyncio.to_thread(opened, id, body)
        self._opened.put(id, read, read.stored.size_bytes)
        return read

    async def keep(self, stored: Stored, tensors: Mapping[str, bytes], view: SnapshotView, token: str) -> str:
        """Keep a finished trace with a view, for the owner of a token; its id. Raises StoreDown and Problem."""
        digest, body = await asyncio.to_thread(packed, stored, tensors, view)
        if len(body) > self._max_bytes:
            raise Problem("snapshot-too-large", size=len(body), limit=self._max_bytes)
        for length in LENGTHS:
            id = digest[:length]
            there = await self._store.snapshot(id)
            if there is None or await asyncio.to_thread(_is_same, there, body):
                break
        try:
            await self._store.keep_snapshot(id, body, owner_of(token))
        except StoreFull:
            raise Problem("snapshots-full", limit=self._total_mb) from None
        return id

    async def release(self, id: str, token: str) -> None:
        """Give a snapshot up for the owner of a token. Raises StoreDown and Problem."""
        if not await self._store.release_snapshot(id, owner_of(token)):
            there = await self._store.has_snapshot(id)
            raise Problem("not-your-snapshot" if there else "no-such-snapshot", snapshot=id)

    async def size(self) -> StoreSize:
        """What all of them take, as it was when that could last be found out."""
        return await self._store.snapshots_size()


def is_snapshot(id: str) -> bool:
    """Whether an id has the form of a snapshot's, not of a run's."""
    return _ID.fullmatch(id) is not None


def no_such(id: str) -> Problem:
    """What is said when there is no trace of an id."""
    return Problem("no-such-snapshot", snapshot=id) if is_snapshot(id) else Problem("no-such-run", run=id)


def new_token() -> str:
    """What proves that a snapshot is one's own."""
    return secrets.token_urlsafe(24)


def owner_of(token: str) -> str:
    """A token as it is stored: nobody who reads the store can delete with it."""
    return hashlib.sha256(token.encode()).hexdigest()


def packed(stored: Stored, tensors: Mapping[str, bytes], view: SnapshotView) -> tuple[str, bytes]:
    """The whole id of a snapshot, and what is stored of it."""
    trace = _with_id(gzip.decompress(stored.body), "")
    kept = {name: tensors[name] for name in sorted(tensors)}
    text = msgspec.json.encode(Envelope(FORMAT, msgspec.Raw(trace), msgspec.Raw(view.json_bytes()), kept))
    return _in_letters(hashlib.sha256(text).digest()), gzip.compress(text, mtime=0)


def opened(id: str, body: bytes) -> Opened:
    """A stored snapshot as this version reads it. Raises Problem for one of a foreign version."""
    found = "damaged"
    try:
        text = gzip.decompress(body)
        found = msgspec.json.decode(text, type=_Named).format
        envelope = _current(text, found)
        view = SnapshotView.model_validate_json(bytes(envelope.view))
        trace = _with_id(bytes(envelope.trace), id)
        found = msgspec.json.decode(trace, type=_Named).format
        if found != TRACE_FORMAT:
            trace = migrate(trace)
        msgspec.json.decode(trace, type=Trace)  # what is damaged is told now, and not by every view of it
    except (OSError, EOFError, zlib.error, UnreadableFormat, msgspec.MsgspecError, pydantic.ValidationError):
        raise Problem("foreign-snapshot", snapshot=id, found=found, format=f"{FORMAT}, {TRACE_FORMAT}") from None
    zipped = gzip.compress(trace, mtime=0)
    return Opened(Stored(body=zipped, etag=etag(zipped), tensors=envelope.tensors), view)


def _current(text: bytes, found: str) -> Envelope:
    """An envelope of the current format. Raises UnreadableFormat."""
    if found != FORMAT:
        text = msgspec.json.encode(advanced(text, STEPS, FORMAT))
    return msgspec.json.decode(text, type=Envelope)


def json_of(snapshot: Opened) -> bytes:
    """A snapshot in the current format, for who reads it."""
    stored = snapshot.stored
    trace, view = msgspec.Raw(gzip.decompress(stored.body)), msgspec.Raw(snapshot.view.json_bytes())
    return msgspec.json.encode(Envelope(FORMAT, trace, view, dict(stored.tensors)))


def _with_id(trace: bytes, id: str) -> bytes:
    """The JSON of a trace under another id; nothing else of it is read."""
    fields = msgspec.json.decode(trace, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({**fields, "id": msgspec.Raw(msgspec.json.encode(id))})


def _is_same(there: bytes, body: bytes) -> bool:
    return there == body or gzip.decompress(there) == gzip.decompress(body)


def _in_letters(digest: bytes) -> str:
    number, letters = int.from_bytes(digest), ""
    while number:
        number, at = divmod(number, len(LETTERS))
        letters += LETTERS[at]
    return letters
