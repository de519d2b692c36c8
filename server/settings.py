"""Every option of the server: type, unit, default, one sentence. The only reader of the environment."""

import os
import re
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from engine.limits import DEFAULT_LIMITS
from engine.schema import field_sentences
from engine.trace import RunLimits

PREFIX = "GRADGRAPH_"
_ORIGIN = re.compile(r"\*|https?://[\w.-]+(:\d+)?", re.ASCII)


class BadSetting(ValueError):
    """An option of the environment has a value that cannot be used."""


@dataclass(frozen=True)
class Settings:
    """The operator's choices; the variable of `data_dir` is `GRADGRAPH_DATA_DIR`."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8000
    """Port to listen on."""
    workers: int = 0
    """Runs at the same time; 0 takes one for each processor core."""
    slow_workers: int = 8
    """Runs that may go on beside those after `quick_s`, giving way to newer ones; fewer where memory is short."""
    quick_s: float = 0.5
    """Seconds a run has a worker for itself; after them it yields to newer runs."""
    queue: int = 1024
    """Runs that may wait before new ones are refused with 503."""
    per_address: int = 400
    """Runs one network address may have waiting or running before it is refused with 429: a class shares one."""
    rate_per_s: float = 100.0
    """Runs a second that one network address may ask for in the long run, stored ones not counted; 0 sets no limit."""
    rate_burst: int = 1000
    """Runs one network address may ask for at once before `rate_per_s` holds; then it is refused with 429."""
    fixes: int = 4
    """Fixes and causes of one run that are tried, when somebody asks for them and a worker is idle; 0 tries none."""
    runner: str = ""
    """Broker of a cluster, `nats://USER:PASSWORD@HOST` or `nats://TOKEN@HOST`, `tls:` for TLS; left empty, none."""
    runner_ca: str = ""
    """File with the certificates that the broker's TLS certificate is checked against; left empty, the system's."""
    store: str = ""
    """Database of the store, `postgresql://USER:PASSWORD@HOST/NAME`; left empty, it is a file in `data_dir`."""
    data_dir: Path = Path("data")
    """Folder of the store's file; made when it does not exist."""
    store_bytes: int = 2 * 1024**3
    """Bytes the stored traces may take; those not asked for longest go first."""
    snapshot_mb: int = 16
    """Megabytes one snapshot may take, compressed; a larger one is refused with 413."""
    snapshots_mb: int = 4096
    """Megabytes all snapshots may take; they never leave by themselves, so that new ones are then refused with 507."""
    snapshots_per_hour: int = 600
    """Snapshots one network address may make in an hour before it is refused with 429; 0 sets no limit."""
    rooms: int = 300
    """Rooms of classes that may be open at the same time; 0 opens none."""
    rooms_per_hour: int = 60
    """Rooms one network address may open in an hour before it is refused with 429; 0 sets no limit."""
    room_learners: int = 400
    """Learners one room takes."""
    memory_cache_bytes: int = 64 * 1024**2
    """Bytes of finished traces held in memory, compressed."""
    wall_s: float = DEFAULT_LIMITS.wall_s
    """Longest time one run may have, in seconds; what it waited for a processor counts only beyond 3 times that."""
    cpu_s: float = DEFAULT_LIMITS.cpu_s
    """Most processor time one run may take, in seconds over all its threads."""
    memory_bytes: int = DEFAULT_LIMITS.memory_bytes
    """Most bytes one run may add to the warm process."""
    cuda_share: float = 0.4
    """Share of a GPU's memory one run may take, from 0.05 to 1; as many go on at once as these shares fit into it."""
    output_bytes: int = DEFAULT_LIMITS.output_bytes
    """Most bytes of printed output that are kept. A program that prints more than 1 MiB is stopped."""
    ops: int = DEFAULT_LIMITS.ops
    """Most forward operations that are recorded; before the first backward pass at most 14,000 of those outside the
    graph."""
    nodes: int = DEFAULT_LIMITS.nodes
    """Most autograd nodes that are recorded."""
    trace_bytes: int = DEFAULT_LIMITS.trace_bytes
    """Most bytes of events one worker may say."""
    code_bytes: int = 100_000
    """Longest program accepted, in bytes of UTF-8; a longer one is refused with 413."""
    graph_boxes: int = 20_000
    """Largest graph that is drawn as SVG or PNG, in boxes before folding."""
    warm_gallery: bool = True
    """Run the gallery programs after the start, so that embeds of them can be played."""
    embed_edit: str = ""
    """Origins, with spaces between, whose pages may have embeds with `mode=edit`, `*` for all; empty: none may."""
    allow_weak_isolation: bool = False
    """Serve other machines although the self-tests found the isolation `partial` or `none`."""

    @property
    def limits(self) -> RunLimits:
        """The operator's limits; a caller may only lower them."""
        return RunLimits(**{name: getattr(self, name) for name in RunLimits.__struct_fields__})

    @property
    def edit_origins(self) -> tuple[str, ...]:
        """Origins whose pages may let readers change and run programs in embeds."""
        return tuple(self.embed_edit.split())

    @property
    def body_bytes(self) -> int:
        """Longest request body that is read: JSON may write one byte as six."""
        return self.code_bytes * 8

    @property
    def is_local(self) -> bool:
        """Whether programs come from this machine only; of a cluster no node knows that."""
        return not self.runner and (self.host in ("localhost", "::1") or self.host.startswith("127."))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Settings with every `GRADGRAPH_` variable applied. Raises BadSetting, also for unknown names."""
        types = get_type_hints(cls)
        given = {
            name.removeprefix(PREFIX).lower(): text for name, text in environment.items() if name.startswith(PREFIX)
        }
        if unknown := sorted(given.keys() - types.keys()):
            names = ", ".join(PREFIX + name.upper() for name in unknown)
            raise BadSetting(f"{names}: no such option; see the table of settings in docs/api.md")
        parsed: dict[str, Any] = {name: _parse(name, types[name], text) for name, text in given.items()}
        settings = cls(**parsed)
        if settings.store and not _names_postgres(settings.store):
            raise BadSetting(
                f"{PREFIX}STORE names no PostgreSQL: write postgresql://USER:PASSWORD@HOST/NAME, or leave it empty"
            )
        if strange := [origin for origin in settings.edit_origins if not _ORIGIN.fullmatch(origin)]:
            raise BadSetting(
                f"{PREFIX}EMBED_EDIT: {strange[0]!r} is no origin: write https://HOST or https://HOST:PORT, "
                "with spaces between several, or *"
            )
        if settings.runner and not all(map(_names_broker, settings.runner.split(","))):
            raise BadSetting(f"{PREFIX}RUNNER names no broker: write nats://USER:PASSWORD@HOST:4222, or leave it empty")
        try:
            if settings.runner_ca:
                ssl.create_default_context(cafile=settings.runner_ca)
        except OSError as wrong:
            raise BadSetting(f"{PREFIX}RUNNER_CA={settings.runner_ca!r} has no certificates: {wrong}") from None
        return settings


def table() -> str:
    """All options as a Markdown table, for docs/api.md."""
    sentences = field_sentences(Settings)
    rows = "".join(
        f"| `{PREFIX}{field.name.upper()}` | {_type_name(field.type)} | {_shown(field.default)} "
        f"| {sentences[field.name]} |\n"
        for field in fields(Settings)
    )
    return f"| Variable | Type | Default | What it sets |\n|---|---|---|---|\n{rows}"


def _shown(value: object) -> str:
    return "empty" if value == "" else f"`{value}`"


def _parse(name: str, kind: type, text: str) -> object:
    try:
        if kind is bool:
            return {"1": True, "true": True, "0": False, "false": False, "": False}[text.lower()]
        value = kind(text)
    except (ValueError, KeyError):
        raise BadSetting(f"{PREFIX}{name.upper()}={text!r} is not a {_type_name(kind)}") from None
    if kind in (int, float) and not value >= 0:
        raise BadSetting(f"{PREFIX}{name.upper()}={text!r} is below 0")
    return value


def _names_postgres(url: str) -> bool:
    try:
        return make_url(url).drivername == "postgresql"
    except (ArgumentError, ValueError):
        return False


def _names_broker(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("nats", "tls") and bool(parts.hostname) and bool(parts.username)


def _type_name(kind: object) -> str:
    return {bool: "0 or 1", int: "whole number", float: "number", Path: "folder"}.get(kind, "text")  # type: ignore[call-overload, no-any-return]


if __name__ == "__main__":
    sys.stdout.write(table())
