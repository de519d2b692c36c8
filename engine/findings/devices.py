"""A variable about devices that Python takes without complaint and that does nothing."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from engine.findings.diagnosis import Diagnosis
from engine.program.edits import Edits
from engine.program.names import dotted
from engine.program.source import Source
from engine.trace import Finding

VISIBLE = "CUDA_VISIBLE_DEVICES"
ALIKE = 0.85


def visible_devices(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The variable misspelt."""
    code = diagnosis.code
    for key in _environment_keys(code):
        name = key.arg or "" if isinstance(key, ast.keyword) else str(key.value)
        if name != VISIBLE and SequenceMatcher(None, name.upper(), VISIBLE).ratio() >= ALIKE:
            quote = code.text(key)[0]
            fix: Edits = (code.replace(key, f"{quote}{VISIBLE}{quote}"),) if quote in "'\"" else ()
            if isinstance(key, ast.keyword):
                fix = (code.replace(key, f"{VISIBLE}={code.text(key.value)}"),)
            yield diagnosis.finding("visible_devices_misspelt", "error", key, fix=fix, written=name, right=VISIBLE)


def _environment_keys(code: Source) -> Iterator[ast.Constant | ast.keyword]:
    """Keys that the program writes into `os.environ`."""
    for node in code.nodes:
        keys: list[ast.expr | ast.keyword | None] = []
        match node:
            case ast.Subscript(value=value, slice=key, ctx=ast.Store()) if dotted(value).endswith("environ"):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=value, attr="setdefault"), args=[key, *_]) if dotted(value).endswith(
                "environ"
            ):
                keys = [key]
            case ast.Call(func=ast.Attribute(value=value, attr="update")) if dotted(value).endswith("environ"):
                keys = [*node.keywords]
                for given in node.args:
                    keys += given.keys if isinstance(given, ast.Dict) else []
            case ast.Call(func=function, args=[key, *_]) if dotted(function) == "os.putenv":
                keys = [key]
        yield from (written for written in keys if isinstance(written, ast.Constant | ast.keyword))
