"""The page of a snapshot: what the built page is told of it, and what other sites and readers without scripts see."""

from collections.abc import Mapping
from html import escape
from urllib.parse import quote, urlencode

from engine.trace import Trace
from server.look import plain_page
from server.oembed import discovery, opens_in
from server.problems import TABLE, Language, Problem
from server.wire import Lesson, SnapshotView

LANGUAGES: tuple[Language, ...] = ("en", "zh")
TITLE_CHARACTERS = 80
CARD = {"width": 1200, "height": 630}
"""Pixels of the picture that other sites show of a page: what they cut theirs to."""
PICTURE_OF: dict[Language, str] = {"en": "Computation graph: ", "zh": "计算图："}
DESCRIPTION: dict[Language, str] = {
    "en": "The graph that PyTorch's autograd built for this program: every value, every gradient, step by step.",
    "zh": "PyTorch autograd 为这段程序构建的计算图：每个数值、每个梯度，一步一步。",
}

GONE_TITLE: dict[Language, str] = {"en": "There is no such snapshot", "zh": "没有这个快照"}
GONE: dict[Language, str] = {
    "en": """<p>Nothing is kept here under <code>{snapshot}</code>: it was never made, or whoever made it
has deleted it. If you followed a link, ask its author for another one. <a href="/">Open Gradgraph</a> and run a program
of your own, or <a href="/kept?lang=en">read what is kept, how long and why</a>.</p>""",
    "zh": """<p>这里没有保存 <code>{snapshot}</code>：它从未产生，或者制作它的人已将其删除。
如果你是通过链接来的，请向作者要一个新的链接。<a href="/">打开 Gradgraph</a> 运行自己的程序，\
或<a href="/kept?lang=zh">了解保存什么、保存多久、为什么</a>。</p>""",
}
OPENS: dict[Language, str] = {"en": "Open Gradgraph", "zh": "打开 Gradgraph"}


def refused(problem: Problem, language: Language) -> str:
    """A page for who opens a snapshot or room that cannot be shown."""
    told = {each: f'<p>{escape(problem.sentence(each))}</p><p><a href="/">{OPENS[each]}</a></p>' for each in LANGUAGES}
    return _in_both(TABLE[problem.key].title, told, language)


def gone(snapshot: str, language: Language) -> str:
    """A page for who opens a snapshot that is not there."""
    return _in_both(GONE_TITLE, {each: GONE[each].format(snapshot=escape(snapshot)) for each in LANGUAGES}, language)


def _in_both(titles: Mapping[Language, str], told: Mapping[Language, str], first: Language) -> str:
    """In the reader's language, and under it in the other: a browser may be lent."""
    parts = {each: f"<h1>{titles[each]}</h1>{told[each]}" for each in LANGUAGES}
    other = next(each for each in LANGUAGES if each != first)
    inside = f'{parts[first]}<div class="other" lang="{other}">{parts[other]}</div>'
    return plain_page(first, f"Gradgraph: {titles[first]}", inside)


def title_of(trace: Trace, lessons: dict[str, Lesson], view: SnapshotView) -> str:
    """The lesson's title where the program is one; else its first line that does more than import."""
    lesson = lessons.get(view.lesson or "")
    if lesson and lesson.code == trace.program.code:
        return (lesson.zh if view.lang == "zh" else lesson.en).title
    lines = (line.strip() for line in (trace.program.expression or trace.program.code).splitlines())
    telling = (line for line in lines if line and not line.startswith(("#", "import ", "from ")))
    return next(telling, "Gradgraph")[:TITLE_CHARACTERS]


def opening(view: SnapshotView, opens: Mapping[str, str]) -> SnapshotView:
    """A view with what an address says of it otherwise."""
    otherwise: dict[str, object] = {name: opens[name] for name in ("lang", "theme", "level") if name in opens}
    return view.model_copy(update=otherwise | ({"step": int(opens["step"])} if "step" in opens else {}))


def written(
    page: str, base: str, path: str, id: str, view: SnapshotView, title: str, opens: Mapping[str, str] = {}
) -> str:
    """A page of the build that opens on a snapshot; `path` leads to it and ends before the id. Of `opens` only whether
    it asks is not in the view."""
    text = DESCRIPTION[view.lang]
    theme = {} if view.theme == "auto" else {"theme": view.theme}
    asking = {"questions": opens["questions"]} if "questions" in opens else {}
    look = urlencode({"step": view.step, "lang": view.lang} | theme | asking)
    link, picture = f"{base}s/{id}", f"{base}s/{id}.png?{look}&{urlencode(CARD)}"
    alt = f"{PICTURE_OF[view.lang]}{title}"
    told = {
        "og:type": "website", "og:site_name": "Gradgraph", "og:title": title, "og:description": text,
        "og:url": link, "og:image": picture, "og:image:width": str(CARD["width"]),
        "og:image:height": str(CARD["height"]), "og:image:alt": alt,
    }  # fmt: skip
    named = {
        "twitter:card": "summary_large_image", "twitter:title": title, "twitter:description": text,
        "twitter:image": picture, "twitter:image:alt": alt, "gradgraph-view": view.json_bytes().decode(),
    }  # fmt: skip
    head = "".join(
        f'<meta {kind}="{name}" content="{escape(value)}" />\n'
        for kind, values in (("property", told), ("name", named))
        for name, value in values.items()
    )
    drawn = (
        f'<noscript><a href="{escape(link)}.svg?{escape(look)}"><img src="/s/{id}.svg?{escape(look)}" '
        f'alt="{escape(title)}" style="max-width:100%" /></a></noscript>\n'
    )
    found = discovery(base, f"{base}{path}{id}?{look}", title)
    named_page = page.replace('<html lang="zh">', f'<html lang="{view.lang}">', 1).replace(
        "<title>Gradgraph</title>", f"<title>{escape(title)} · Gradgraph</title>", 1
    )
    return _with(named_page, f"{head}{found}", drawn)


def written_of_run(page: str, base: str, run: str, query: str) -> str:
    """The embed of a run, with what a reader without scripts and another site see of it."""
    address = f"/api/v1/runs/{quote(run, safe='')}/graph.svg?{query}"
    picture = f'<noscript><img src="{escape(address)}" alt="{escape(run)}" style="max-width: 100%"></noscript>'
    found = discovery(base, f"{base}embed/{quote(run, safe='')}?{urlencode(opens_in(query))}", "Gradgraph")
    return _with(page, found, picture)


def _with(page: str, head: str, body: str) -> str:
    return page.replace("</head>", f"{head}</head>", 1).replace("</body>", f"{body}</body>", 1)
