"""Work of recording's own that no mode of the program's sees."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from engine.worker.pytorch.internals import disable_torch_function, dispatch_mode_count, without_dispatch_modes


def unseen() -> AbstractContextManager[object]:
    """Context: calls inside reach no function mode, no `__torch_function__` and no dispatch mode."""
    return _without_modes() if dispatch_mode_count() else disable_torch_function()


@contextmanager
def _without_modes() -> Iterator[None]:
    with disable_torch_function(), without_dispatch_modes():
        yield
