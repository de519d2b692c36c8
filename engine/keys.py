"""Content key of a run: the same program, seed, device, limits and versions have the same run id."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from engine.request import RunRequest

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True)
class Versions:
    """What besides the request decides what a trace says."""

    torch: str
    engine: str
    """Gradgraph version with a digest of the engine's source, so that a changed engine never meets old traces."""


@cache
def versions() -> Versions:
    """Versions of this installation, read without importing torch."""
    return Versions(torch=version("torch"), engine=f"{_gradgraph_version()}+{_engine_digest()}")


def run_id(request: RunRequest, of: Versions) -> str:
    """26 letters and digits of the SHA-256 over everything that decides the trace."""
    # Every field is spelled out: msgspec drops a default by identity, and an equal text from a body is another object.
    asked = {
        "program": msgspec.structs.asdict(request.program),
        "limits": msgspec.structs.asdict(request.limits),
        "checks": sorted(set(request.checks)),
    }
    content = b"\0".join((_ENCODE(asked), of.torch.encode(), of.engine.encode()))
    return base64.b32encode(hashlib.sha256(content).digest())[:26].decode().lower()


def _gradgraph_version() -> str:
    try:
        return version("gradgraph")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"


def _engine_digest() -> str:
    source = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted(source.rglob("*.py")):
        digest.update(file.relative_to(source).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
