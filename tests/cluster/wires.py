"""The network between two processes, in this one: it may be cut as a cable is, when nothing arrives and nothing is refused."""

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from tests.cluster.parts import Loop


class Cut(Protocol):
    """What lies between two."""

    def cut(self) -> AbstractContextManager[None]: ...


class Wire:
    """A port of this machine that leads to another port, or to a socket's file."""

    def __init__(self, loop: Loop, to: int | str, host: str = "127.0.0.1") -> None:
        self._loop = loop
        self._to = to
        self._is_whole = asyncio.Event()
        self._is_whole.set()
        self._listening = loop.run(asyncio.start_server(self._on_connection, host, 0))
        self.port: int = self._listening.sockets[0].getsockname()[1]

    @contextmanager
    def cut(self) -> Iterator[None]:
        """What is said meanwhile arrives afterwards, where both ends have waited for it."""
        self._loop.run(self._set(is_whole=False))
        try:
            yield
        finally:
            self._loop.run(self._set(is_whole=True))

    def close(self) -> None:
        """Nobody connects any more."""
        self._loop.run(self._close())

    async def _close(self) -> None:
        self._listening.close()

    async def _set(self, *, is_whole: bool) -> None:
        if is_whole:
            self._is_whole.set()
        else:
            self._is_whole.clear()

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await self._is_whole.wait()
            there, here = await self._connect()
            await asyncio.gather(self._carry(reader, here), self._carry(there, writer))
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._to, str):
            return await asyncio.open_unix_connection(self._to)
        return await asyncio.open_connection("127.0.0.1", self._to)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._is_whole.wait()
                writer.write(data)
                await writer.drain()
        await self._is_whole.wait()
        writer.close()
