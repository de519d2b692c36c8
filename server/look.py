"""How the plain pages look that the server writes itself: the page's colours and letters, no script."""

STYLE = (
    ":root{color-scheme:light dark;--paper:#fbfaf7;--panel:#fff;--line:#e3e0d8;--line2:#c3bfb4;--ink:#1b1c1e;"
    "--ink2:#53565b;--grad:#006b56}"
    "@media(prefers-color-scheme:dark){:root{--paper:#131516;--panel:#191b1d;--line:#2a2d30;--line2:#4b4f54;"
    "--ink:#eceae5;--ink2:#b0b2b5;--grad:#52cdab}}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.6 -apple-system,'Segoe UI','PingFang SC',"
    "'Microsoft YaHei','Noto Sans CJK SC','Source Han Sans SC',sans-serif}"
    "header{padding:10px 16px;border-bottom:1px solid var(--line);background:var(--panel)}"
    "header a{display:inline-flex;gap:8px;align-items:center;min-height:24px;font-weight:700;text-decoration:none}"
    "header svg{fill:none;stroke:var(--ink);stroke-width:2;stroke-linejoin:round}header .up{stroke:var(--grad)}"
    "main{max-width:52rem;margin:0 auto;padding:16px 16px 48px}"
    "h1{font-size:20px;line-height:1.4}h2{margin-top:40px;font-size:16px}"
    "a{color:inherit;text-decoration-color:var(--line2);text-underline-offset:3px}"
    ".other{margin-top:40px;border-top:1px solid var(--line);color:var(--ink2)}.other h1{font-size:16px}"
    "code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    "pre{padding:12px;overflow:auto;border:1px solid var(--line);background:var(--panel)}"
    "td{padding:2px 16px 2px 0;vertical-align:top}"
)
MARK = (
    '<header><a href="/"><svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">'
    '<path d="M5 2v11M2 10l3 3.2L8 10"/><path class="up" d="M11 14V3M8.2 6 11 2.8 13.8 6"/></svg>Gradgraph</a></header>'
)


def plain_page(language: str, title: str, inside: str, style: str = "") -> str:
    """A page: its title as text, what is inside as HTML."""
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{STYLE}{style}</style>'
        f"{MARK}<main>{inside}</main></html>"
    )
