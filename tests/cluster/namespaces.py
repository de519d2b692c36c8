"""Nodes in network namespaces of their own, and cables between them that may be cut: what the kernel does then is real."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

BETWEEN = f"gg{os.getpid()}"
"""Namespace of the bridges. Whoever speaks over one sees a link that is up, cut or not."""
NETWORK = f"10.{64 + os.getpid() % 128}"
"""Tests that run beside these have another one."""


class NoNamespaces(Exception):
    """This machine does not let us make any."""


def _ip(*arguments: str) -> str:
    try:
        return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=60).stdout
    except FileNotFoundError:
        raise NoNamespaces("there is no `ip` (iproute2)") from None
    except subprocess.CalledProcessError as refused:
        raise NoNamespaces(f"`ip {' '.join(arguments)}`: {refused.stderr.strip()}") from None


@dataclass(frozen=True)
class Cable:
    """One network between this machine and a node."""

    bridge: str
    here: str
    """The address of this machine's end."""
    there: str

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Nothing arrives any more, and nobody is told."""
        _ip("-n", BETWEEN, "link", "set", self.bridge, "down")
        try:
            yield
        finally:
            _ip("-n", BETWEEN, "link", "set", self.bridge, "up")


class Namespaces:
    """One for each node."""

    def __init__(self) -> None:
        self._count = 0
        self._made = [BETWEEN]
        for name, pid in re.findall(r"^(gg(\d+)\S*)", _ip("netns", "list"), re.MULTILINE):
            if not Path("/proc", pid).exists():  # of tests that were killed
                _ip("netns", "del", name)
        _ip("netns", "add", BETWEEN)

    def within(self, node: str) -> list[str]:
        """What begins the command of a process in a node's namespace."""
        if self._name(node) not in self._made:
            self._made.append(self._name(node))
            _ip("netns", "add", self._name(node))
            _ip("-n", self._name(node), "link", "set", "lo", "up")
        return ["ip", "netns", "exec", self._name(node)]

    def cable(self, node: str) -> Cable:
        """One more network between this machine and a node."""
        self.within(node)
        self._count += 1
        number = self._count
        made = Cable(f"b{number}", f"{NETWORK}.{number}.1", f"{NETWORK}.{number}.2")
        ours, theirs = f"{BETWEEN}h{number}", f"{BETWEEN}t{number}"
        _ip("-n", BETWEEN, "link", "add", made.bridge, "type", "bridge")
        _ip("-n", BETWEEN, "link", "set", made.bridge, "up")
        for end, plug in ((ours, f"h{number}"), (theirs, f"t{number}")):
            _ip("link", "add", end, "type", "veth", "peer", "name", plug, "netns", BETWEEN)
            _ip("-n", BETWEEN, "link", "set", plug, "master", made.bridge, "up")
        _ip("link", "set", theirs, "netns", self._name(node))
        _ip("addr", "add", f"{made.here}/24", "dev", ours)
        _ip("link", "set", ours, "up")
        _ip("-n", self._name(node), "addr", "add", f"{made.there}/24", "dev", theirs)
        _ip("-n", self._name(node), "link", "set", theirs, "up")
        return made

    def close(self) -> None:
        """The cables go with them."""
        for name in self._made:
            _ip("netns", "del", name)

    def _name(self, node: str) -> str:
        return f"{BETWEEN}-{node}"


def are_possible() -> bool:
    """Whether this machine lets us make nodes with cables."""
    try:
        with closing(Namespaces()) as made:
            made.cable("tried")
    except NoNamespaces:
        return False
    return True
