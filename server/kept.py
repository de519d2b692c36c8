"""What is kept, how long and why: a page in two languages, its figures from the operator's settings."""

from html import escape

from engine.limits import MIB
from server.look import plain_page
from server.problems import Language
from server.settings import Settings

Sentences = dict[Language, str]

TITLE: Sentences = {"en": "What is kept, how long and why", "zh": "保存什么、保存多久、为什么"}
COLUMNS: dict[Language, tuple[str, str, str]] = {
    "en": ("What", "How long", "Why"),
    "zh": ("内容", "多久", "原因"),
}
OTHER: dict[Language, tuple[Language, str]] = {"en": ("zh", "中文"), "zh": ("en", "English")}
BACK: Sentences = {"en": "Open Gradgraph", "zh": "打开 Gradgraph"}

ROWS: tuple[dict[Language, tuple[str, str, str]], ...] = (
    {
        "en": (
            "A run: the program, its output and all recorded numbers, and what came of trying the fixes it was offered",
            "Until room is needed: all runs together may take {runs}, and those not asked for longest go first. "
            "Runs of the lessons stay",
            "So that its link opens, and the same program is answered at once. Whoever knows the link can read it; "
            "whoever runs the same program gets the same link",
        ),
        "zh": (
            "一次运行：程序、输出和所有记录的数值，以及试用所提供的修复的结果",
            "直到需要空间：所有运行总共可占 {runs}，最久没人查看的先被删除。示例的运行一直保留",
            "为了能打开它的链接，并让相同的程序立即得到回答。知道链接的人都能读到它；运行相同程序的人得到相同的链接",
        ),
    },
    {
        "en": (
            "A snapshot: a run as above, the step, what was selected and open, language and colours; with a comparison "
            "the runs beside it, as snapshots of their own",
            "Until whoever made it deletes it. One may take {one}, all together {all}; when they are full, new ones "
            "are refused and none is removed. Backups that the operator made before keep what was deleted since",
            "A link in course material has to open in years. Whoever knows the link can read it",
        ),
        "zh": (
            "一个快照：上述的一次运行，以及步骤、选中和展开的部分、语言和颜色；如果是比较，并排的运行也各自成为快照",
            "直到制作者将其删除。单个最多 {one}，总共最多 {all}；满了以后拒绝新的快照，不会删除已有的。"
            "运营者在此之前做的备份里仍有后来删除的内容",
            "课程材料里的链接多年后仍要能打开。知道链接的人都能读到它",
        ),
    },
    {
        "en": (
            "The SHA-256 of a snapshot's owner token, with the time; the token itself only in the browser that made it",
            "As long as the snapshot is kept for that owner",
            "So that only its owner can delete it. Two people who make the same snapshot have the same link: it goes "
            "when both have deleted it. Browsers and caches that have read it may show it for a day more",
        ),
        "zh": (
            "快照所有者令牌的 SHA-256 和时间；令牌本身只保存在制作它的浏览器里",
            "与该所有者的快照同样长",
            "为了只有所有者能删除它。两个人制作相同的快照会得到相同的链接：双方都删除后它才消失。"
            "读过它的浏览器和缓存可能还会再显示一天",
        ),
    },
    {
        "en": (
            "A cookie with a random name, {cookie}",
            "Until the browser is closed; the server writes it nowhere",
            "Tells the queue one browser from another: each has one running and one waiting run",
        ),
        "zh": (
            "一个含随机名称的 cookie：{cookie}",
            "到浏览器关闭为止；服务器不把它写入任何地方",
            "让队列区分不同的浏览器：每个浏览器同时有一次执行、一次等待",
        ),
    },
    {
        "en": (
            "Network addresses",
            "In memory only, until the server ends at the latest: it counts {rate} runs a second and {snapshots} "
            "snapshots an hour for each",
            "So that nobody takes the service from others. 0 stands for no limit",
        ),
        "zh": (
            "网络地址",
            "只在内存中，最长到服务器停止：为每个地址计数，每秒 {rate} 次运行，每小时 {snapshots} 个快照",
            "为了没有人独占服务。0 表示不设限制",
        ),
    },
    {
        "en": (
            "A room of a class: which question is asked, and the last answer of each learner under a digest of the "
            "cookie above, another one in each room",
            "In memory only, until the teacher closes the room; without the teacher 3 hours, 8 at most",
            "So that the teacher sees how the answers spread. Nobody is told who gave which",
        ),
        "zh": (
            "一个课堂：正在问的问题，以及每个学生最后的答案，以上述 cookie 的摘要区分，每个课堂的摘要都不同",
            "只在内存中，直到老师关闭课堂；老师不在时最多 3 小时，总共最多 8 小时",
            "为了让老师看到答案的分布。不告诉任何人哪个答案是谁给的",
        ),
    },
    {
        "en": (
            "In your browser: language, colours, speed, widths of columns, what you folded and have seen of the tour, "
            "whether edits run by themselves, the runs of the tab, your edits, the token of a room "
            "you opened, your snapshots with their tokens",
            "Until you clear the browser's storage; runs, edits and the room's token until the tab is closed",
            "So that the page is as you left it, and you can delete your snapshots",
        ),
        "zh": (
            "在你的浏览器中：语言、颜色、速度、各栏宽度、折叠了什么、是否看过导览、修改后是否自动运行、"
            "该标签页的运行、你的修改、你开设的课堂的令牌、你的快照及其令牌",
            "直到你清除浏览器存储；运行、修改和课堂的令牌保留到标签页关闭",
            "为了页面与你离开时一样，并让你能删除自己的快照",
        ),
    },
)
NOTHING_ELSE: Sentences = {
    "en": "Gradgraph has no accounts, loads nothing from other hosts and tells nobody of you. Its own log names runs "
    "and its own errors, no programs. What the operator of this server or a proxy before it writes down besides, "
    "Gradgraph does not know.",
    "zh": "Gradgraph 没有账号，不从其他主机加载任何内容，也不把你的信息告诉任何人。"
    "它自己的日志只有运行编号和自身的错误，没有程序。此服务器的运营者或其前面的代理另外记录了什么，"
    "Gradgraph 并不知道。",
}
LOOK = (
    "table{table-layout:fixed;width:100%}th{text-align:start}"
    "td{padding-block:.5rem;border-top:1px solid var(--line);overflow-wrap:anywhere}"
)


def page_of(settings: Settings, language: Language, cookie: str) -> str:
    """The page; `cookie` is the name of the session's."""
    facts = {
        "runs": size(settings.store_bytes),
        "one": size(settings.snapshot_mb * MIB),
        "all": size(settings.snapshots_mb * MIB),
        "rate": f"{settings.rate_per_s:g}",
        "snapshots": settings.snapshots_per_hour,
        "cookie": cookie,
    }
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell.format_map(facts))}</td>' for cell in row[language])}</tr>" for row in ROWS
    )
    columns = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS[language])
    other, name = OTHER[language]
    inside = (
        f"<h1>{TITLE[language]}</h1><table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
        f'<p>{NOTHING_ELSE[language]}</p><p><a href="/">{BACK[language]}</a> · '
        f'<a href="/kept?lang={other}" lang="{other}">{name}</a></p>'
    )
    return plain_page(language, f"Gradgraph: {TITLE[language]}", inside, LOOK)


def size(count: int) -> str:
    """Bytes as people say them."""
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"
