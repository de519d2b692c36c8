"""How a child of the zygote ends."""

import errno
import os
import sys
from collections.abc import Callable

import msgspec
import pytest

if sys.platform != "linux":
    pytest.skip("the sandbox is Linux's", allow_module_level=True)

from engine.request import RunRequest
from engine.sandbox import child
from engine.sandbox.messages import OUT_OF_MEMORY
from engine.trace import Program


def _ran_out() -> None:
    raise MemoryError


def _lost_on_the_way() -> None:
    try:
        raise MemoryError
    except MemoryError:
        raise RuntimeError("what was being said is half said")  # noqa: B904 - as of an error while another is handled


def _refused() -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


def _broken() -> None:
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("act", "code"),
    [(_ran_out, OUT_OF_MEMORY), (_lost_on_the_way, OUT_OF_MEMORY), (_refused, OUT_OF_MEMORY), (_broken, 1)],
)
def test_an_error_that_comes_of_memory_is_one_of_memory(act: Callable[[], None], code: int) -> None:
    """Whatever took the place of the first error: which one that is depends on where the last byte went."""
    request, ask = os.pipe()
    os.write(ask, msgspec.json.encode(RunRequest(program=Program(code="x = 1"))))
    os.close(ask)
    nowhere = os.open("/dev/null", os.O_RDWR)
    if (pid := os.fork()) == 0:
        kept = child.Descriptors(
            request=request, events=nowhere, output=nowhere, statm=os.open("/proc/self/statm", os.O_RDONLY)
        )
        child.live(kept, lambda: lambda asked: act())
    os.close(request)
    os.close(nowhere)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
