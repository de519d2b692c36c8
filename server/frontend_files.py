"""The built frontend: pages and their files, read and compressed once, and again when they are built anew."""

import base64
import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from server.store import etag

FOLDER = Path(__file__).parent / "assets"
PACKED = ".gz"
"""Ends the name of a file's compressed twin."""

_INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Gradgraph: the page is not built</title>
<style>body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }}</style>
<h1>The page is not built</h1>
<p>The server and its API work (<a href="/docs">/docs</a>), but {missing} does not exist.
Run <code>./run serve</code>, which builds the page first, or <code>python build_frontend.py</code>.</p>
<p lang="zh">服务和 API 可以使用（<a href="/docs">/docs</a>），但页面尚未构建：缺少 {missing}。
请运行 <code>./run serve</code>（会先构建页面），或运行 <code>python build_frontend.py</code>。</p>
</html>
"""


@dataclass(frozen=True)
class BuiltFile:
    """One file of the build."""

    body: bytes
    media_type: str
    built: float
    packed: bytes = b""
    """The body compressed when it was built."""

    @cached_property
    def etag(self) -> str:
        return etag(self.body)

    @cached_property
    def zipped(self) -> bytes:
        if self.packed and gzip.decompress(self.packed) == self.body:
            return self.packed
        return gzip.compress(self.body, 9, mtime=0)

    @cached_property
    def script_hashes(self) -> tuple[str, ...]:
        """What a content security policy must name so that the page's own inline scripts run."""
        digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(self.body))
        return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class FrontendFiles:
    """Files of the build by their path below the folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._read: dict[str, BuiltFile] = {}

    def get(self, path: str) -> BuiltFile | None:
        """The file, or None when the build has none of that name."""
        file = (self._folder / path).resolve()
        if not file.is_relative_to(self._folder.resolve()) or not file.is_file() or file.suffix == PACKED:
            return None
        built = file.stat().st_mtime
        if (known := self._read.get(path)) is None or known.built != built:
            media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            packed = file.with_name(f"{file.name}{PACKED}")
            known = self._read[path] = BuiltFile(
                file.read_bytes(), media_type, built, packed.read_bytes() if packed.is_file() else b""
            )
        return known
