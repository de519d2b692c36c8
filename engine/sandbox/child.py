"""The life of one child of the zygote: close the sandbox, wait for one request, run it, end."""

import errno
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

import msgspec

from engine.devices import CPU, DeviceKind
from engine.request import RunRequest
from engine.sandbox.layers import hold_to
from engine.sandbox.messages import OUT_OF_MEMORY

_OUTPUT, _REQUEST, _EVENTS, _STATM = 2, 3, 4, 5  # 0 is empty, 1 is the same as 2
_ANY_DESCRIPTOR = 1 << 20

_BROKEN = 97
"""Exit code of a child that could not close its sandbox: it never saw a request."""

_end = os._exit  # a program that calls it is asked for its last words
_decode_request = msgspec.json.Decoder(RunRequest).decode


class Descriptors(NamedTuple):
    """What a child keeps of all that the zygote has open."""

    request: int
    events: int
    output: int
    statm: int


def reserve_places() -> None:
    """Keep the zygote's own descriptors, which a child needs to close its sandbox, out of the places of the child's."""
    while os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) <= _STATM:
        pass


def live(
    descriptors: Descriptors, make_ready: Callable[[], Callable[[RunRequest], None]], kind: DeviceKind = CPU
) -> NoReturn:
    """Take the descriptors, close the sandbox, say so with an empty line, wait for a request and act on it; then an
    empty line again: all has been said, and nobody need wait until this process has given its memory back.

    `make_ready` closes the sandbox and gives what to do with the request. What it opens stays open for an accelerator:
    the driver's own descriptors are among it.
    """
    code = _BROKEN
    try:
        _arrange(descriptors)
        os.setsid()
        inherited = None if kind is CPU else _others_open()
        act = make_ready()
        _close(inherited)
        emit(b"")
        code = 0
        said = _read_all(_REQUEST)
        if said:
            code = 1
            asked = _decode_request(said)
            mapped_bytes = _mapped_bytes()
            hold_to(asked.limits, None if kind.reserves_address_space else mapped_bytes)
            act(asked)
            emit(b"")
            code = 0
    except BaseException as error:
        if _is_of_memory(error):  # where the program's events are sent; the program itself may not have noticed
            code = OUT_OF_MEMORY
        else:
            traceback.print_exc()
    finally:
        _end(code)


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether it came of memory that ran out, of which it may be a later consequence."""
    while error is not None and not isinstance(error, MemoryError):
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        error = error.__cause__ or error.__context__
    return error is not None


def emit(line: bytes) -> None:
    """Say one event."""
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(_EVENTS, rest) :]


def _arrange(kept: Descriptors) -> None:
    """Move the descriptors to their places."""
    empty = os.open("/dev/null", os.O_RDONLY)
    places = (empty, kept.output, kept.output, kept.request, kept.events, kept.statm)
    for place, fd in enumerate(places):
        os.dup2(fd, place, inheritable=False)


def _others_open() -> list[int]:
    """All descriptors that are not in their places; asked before anything hides `/proc`."""
    listed = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    return [descriptor for descriptor in listed if descriptor > _STATM and _is_open(descriptor)]


def _is_open(descriptor: int) -> bool:
    """The one that the list was read from is not."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _close(descriptors: list[int] | None) -> None:
    """Close these; all but those in their places if None."""
    if descriptors is None:
        os.closerange(_STATM + 1, _ANY_DESCRIPTOR)
        return
    for descriptor in descriptors:
        os.close(descriptor)


def _read_all(fd: int) -> bytes:
    pieces = []
    while piece := os.read(fd, 65536):
        pieces.append(piece)
    os.close(fd)
    return b"".join(pieces)


def _mapped_bytes() -> int:
    """Address space in use."""
    pages = int(os.pread(_STATM, 64, 0).split()[0])
    os.close(_STATM)
    return pages * os.sysconf("SC_PAGE_SIZE")
