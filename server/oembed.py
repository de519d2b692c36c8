"""What another site is told of a page of ours that somebody pasted there (oEmbed 1.0, https://oembed.com)."""

import re
from collections.abc import Mapping
from html import escape
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit
from xml.sax import saxutils

from server.drawing import size_of
from server.wire import OEmbed

Size = tuple[int, int]
"""Width and height in pixels."""

SIZE: Size = (800, 460)
"""Of an embed, where the other site sets no bounds."""
THUMBNAIL: Size = (1200, 1200)
"""Of the largest picture, likewise."""
LEAST_PX = 16
CACHE_S = 3600

_OPENS = {
    "step": "[0-9]{1,7}",
    "lang": "zh|en",
    "theme": "light|dark",
    "level": "both|forward|autograd",
    "hide": "[a-z,]{1,40}",
    "mode": "read|slides",
    "highlight": "[0-9]{1,7}",
    "questions": "on|off",
    "lesson": "[a-z0-9_]{1,40}",
}
"""What an address may say of how an embed opens; nothing else of it is repeated."""
_PATH = re.compile(r"/(?:s|embed)/(\w{1,80})/?")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Asked(NamedTuple):
    """A page of ours."""

    id: str
    """Of the snapshot or run it shows."""
    opens: dict[str, str]
    """How it opens."""


class Thumbnail(NamedTuple):
    """A picture for who shows no frames."""

    url: str
    width: int
    height: int


def opens_in(query: str) -> dict[str, str]:
    """What a query says of how an embed opens; what makes no sense is left out."""
    return {name: said for name, said in parse_qsl(query) if re.fullmatch(_OPENS.get(name, "(?!)"), said)}


def asked_in(url: str, base: str) -> Asked | None:
    """The page at an address, None where it is not one of this server's that can be shown elsewhere. A page that was
    stepped on after it was opened says so behind its `#`."""
    try:
        there, here = urlsplit(url), urlsplit(base)
        path = _PATH.fullmatch(there.path)
        if path is None or there.scheme not in ("http", "https") or _host(there) != _host(here):
            return None
    except ValueError:
        return None
    return Asked(path[1], opens_in(f"{there.query}&{there.fragment}"))


def bounded(size: Size, width: int | None, height: int | None) -> Size:
    """A size within what the other site allows."""
    return min(size[0], width or size[0]), min(size[1], height or size[1])


def answer(asked: Asked, base: str, title: str, frame: Size, thumbnail: Thumbnail | None) -> OEmbed:
    """What is said of a page."""
    width, height = frame
    query = f"?{urlencode(asked.opens)}" if asked.opens else ""
    address = escape(f"{base}embed/{asked.id}{query}")
    return OEmbed(
        title=title,
        provider_url=base,
        cache_age=CACHE_S,
        width=width,
        height=height,
        html=f'<iframe src="{address}" title="{escape(title)}" width="{width}" height="{height}" style="border:0" '
        'loading="lazy" sandbox="allow-scripts allow-popups"></iframe>',
        thumbnail_url=thumbnail and thumbnail.url,
        thumbnail_width=thumbnail and thumbnail.width,
        thumbnail_height=thumbnail and thumbnail.height,
    )


def within(svg: str, bounds: Size) -> Size | None:
    """Width and height of a picture that is drawn no larger than it is and than the bounds; None for a mere dot."""
    width, height = size_of(svg)
    fitted = int(min(width, bounds[0], bounds[1] * width / height))
    high = int(height * fitted / width + 0.5)
    return (fitted, high) if min(fitted, high) >= LEAST_PX else None


def xml(facts: Mapping[str, object]) -> bytes:
    """An answer in XML; of characters that XML has no place for, not even escaped, a sign stands there."""
    fields = "".join(
        f"<{name}>{saxutils.escape(_NO_XML.sub(chr(0xFFFD), str(fact)))}</{name}>" for name, fact in facts.items()
    )
    return f'<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<oembed>{fields}</oembed>\n'.encode()


def discovery(base: str, address: str, title: str) -> str:
    """What tells another site where to ask about a page."""
    asked = escape(urlencode({"url": address}))
    return "".join(
        f'<link rel="alternate" type="{kind}+oembed" title="{escape(title)}" '
        f'href="{escape(base)}oembed?format={form}&amp;{asked}" />\n'
        for form, kind in (("json", "application/json"), ("xml", "text/xml"))
    )


def _host(address: SplitResult) -> tuple[str | None, int | None]:
    """Where an address leads; a proxy may speak HTTPS to the world and HTTP to us."""
    return address.hostname, None if address.port in (80, 443) else address.port
