"""The life of one child of the zygote: close the sandbox, wait for one request, run it, end."""

import os
import traceback
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import msgspec

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
    descriptors: Descriptors, make_ready: Callable[[], Callable[[RunRequest], None]], *, bound_address_space: bool
) -> NoReturn:
    """Take the descriptors, close the sandbox, say so with an empty line, wait for a request and act on it; then an
    empty line again: all has been said, and nobody need wait until this process has given its memory back.

    `make_ready` closes the sandbox and gives what to do with the request.
    """
    code = _BROKEN
    try:
        _arrange(descriptors)
        os.setsid()
        act = make_ready()
        os.closerange(_STATM + 1, _ANY_DESCRIPTOR)
        emit(b"")
        code = 0
        said = _read_all(_REQUEST)
        if said:
            code = 1
            asked = _decode_request(said)
            mapped_bytes = _mapped_bytes()
            hold_to(asked.limits, mapped_bytes if bound_address_space else None)
            act(asked)
            emit(b"")
            code = 0
    except MemoryError:  # where the program's events are sent; the program itself may not have noticed
        code = OUT_OF_MEMORY
    except BaseException:
        traceback.print_exc()
    finally:
        _end(code)


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
