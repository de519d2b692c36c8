"""Keys of what is stored: the engine's run ids, and entity tags of bodies."""

import hashlib

from engine.keys import Versions, run_id, versions

__all__ = ["Versions", "etag", "run_id", "versions"]


def etag(body: bytes) -> str:
    """A strong entity tag of exactly these bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
