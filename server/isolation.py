"""Whether the sandbox of this machine holds well enough for those who can reach it."""

import logging

from engine.trace import Isolation
from server.settings import Settings

WEAK = ("partial", "none")

log = logging.getLogger("gradgraph")


class WeakIsolation(RuntimeError):
    """The sandbox does not hold on this machine and strangers could reach it."""


def check_isolation(isolation: Isolation | None, settings: Settings) -> None:
    """Refuse to perform the programs of other machines' users in a sandbox that does not hold."""
    profile = isolation.profile if isolation else "none"
    log.info("isolation: %s", profile)
    if profile in WEAK and not settings.is_local and not settings.allow_weak_isolation:
        raise WeakIsolation(
            f"isolation is {profile!r} and programs may come from other machines: strangers' programs "
            "would not be held. Listen on 127.0.0.1, give the process the kernel features that are missing "
            "(docs/api.md), or set GRADGRAPH_ALLOW_WEAK_ISOLATION=1 if everyone who can reach it may run programs on "
            "this machine."
        )
