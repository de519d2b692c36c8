"""A finished run in pieces below the broker's largest message, and put together again, checked."""

import hashlib
import zlib
from collections.abc import Iterator

import msgspec

from server.cluster.messages import Manifest
from server.runner import Finished
from server.store import Stored, etag

PIECE_BYTES = 512 * 1024


class Damaged(Exception):
    """The pieces are not what their manifest says."""


class _Told(msgspec.Struct):
    code: str


class _Head(msgspec.Struct):
    """What a trace says of itself."""

    id: str
    status: str
    format: str
    findings: tuple[_Told, ...]


def cut(run: str, finished: Finished) -> tuple[Manifest, list[bytes]]:
    """A finished run as it is sent."""
    stored = finished.stored
    whole = b"".join((stored.body, *stored.tensors.values()))
    manifest = Manifest(
        run=run,
        status=finished.status,
        lost=finished.lost,
        kept=stored.kept,
        format=stored.format,
        body_bytes=len(stored.body),
        tensors={name: len(values) for name, values in stored.tensors.items()},
        size_bytes=len(whole),
        digest=hashlib.sha256(whole).hexdigest(),
    )
    return manifest, [whole[at : at + PIECE_BYTES] for at in range(0, len(whole), PIECE_BYTES)]


class Joining:
    """Takes the pieces of one result, in any order, some of them twice."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._pieces: dict[int, bytes] = {}
        self._bytes = 0

    def put(self, number: int, data: bytes) -> None:
        """One more; nothing is kept beyond what a result may have."""
        if number not in self._pieces and self._bytes + len(data) <= self._most_bytes:
            self._pieces[number] = data
            self._bytes += len(data)

    def clear(self) -> None:
        """Forget them: they are sent again."""
        self._pieces.clear()
        self._bytes = 0

    def whole(self, manifest: Manifest) -> Finished:
        """The finished run. Raises Damaged."""
        whole = b"".join(self._pieces[number] for number in sorted(self._pieces))
        if len(whole) != manifest.size_bytes or hashlib.sha256(whole).hexdigest() != manifest.digest:
            raise Damaged(f"{len(whole)} bytes of {manifest.size_bytes}")
        parts = list(_parts(whole, manifest))
        body, tensors = parts[0], dict(zip(manifest.tensors, parts[1:], strict=True))
        return Finished(
            status=manifest.status,
            lost=manifest.lost,
            stored=Stored(body, etag(body), tensors=tensors, kept=manifest.kept, format=manifest.format),
        )


def check(run: str, finished: Finished, most_bytes: int) -> tuple[str, ...]:
    """The codes of the findings in what a worker made. Raises Damaged where that is no trace of this run to be read."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        text = unpack.decompress(finished.stored.body, most_bytes)
        head = msgspec.json.decode(text, type=_Head)
    except (zlib.error, msgspec.MsgspecError) as wrong:
        raise Damaged(str(wrong)) from wrong
    told = (head.id, head.status, head.format)
    if not unpack.eof or told != (run, finished.status, finished.stored.format):
        raise Damaged(f"it is of {told}")
    return tuple(finding.code for finding in head.findings)


def _parts(whole: bytes, manifest: Manifest) -> Iterator[bytes]:
    at = 0
    for size in (manifest.body_bytes, *manifest.tensors.values()):
        if size < 0 or at + size > len(whole):
            raise Damaged("its parts are longer than the whole")
        yield whole[at : at + size]
        at += size
