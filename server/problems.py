"""The one table from a refused request to its status, title and sentence, in both languages (RFC 9457)."""

import sys
from dataclasses import dataclass
from typing import Literal

import msgspec

Language = Literal["en", "zh"]

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Row:
    """One kind of problem. The sentences name the value, the rule and the next step."""

    status: int
    title: dict[Language, str]
    detail: dict[Language, str]


class Problem(Exception):
    """A request that is refused, by its key in the table."""

    def __init__(self, key: str, *, retry_after_s: int | None = None, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.retry_after_s = retry_after_s
        self.values = values

    @property
    def status(self) -> int:
        return TABLE[self.key].status

    def sentence(self, language: Language) -> str:
        """The value, the rule and the next step."""
        return TABLE[self.key].detail[language].format_map(self.values)

    def body(self, language: Language, instance: str) -> bytes:
        """The problem document; the values stand beside the sentence for programs that read it."""
        row = TABLE[self.key]
        return msgspec.json.encode(
            {
                "type": f"urn:gradgraph:problem:{self.key}",
                "title": row.title[language],
                "status": row.status,
                "detail": self.sentence(language),
                "instance": instance,
                **{name: value for name, value in self.values.items() if isinstance(value, int | float | str)},
            }
        )


def language_of(accept_language: str) -> Language:
    """The language a reader prefers, by the order and weights of `Accept-Language`; English when neither is named."""
    best: tuple[float, Language] = (0.0, "en")
    for choice in accept_language.lower().split(","):
        tag, _, weight = choice.strip().partition(";q=")
        try:
            quality = float(weight or 1)
        except ValueError:
            continue
        for language in ("zh", "en"):
            if tag.split("-")[0] == language and quality > best[0]:
                best = (quality, language)
    return best[1]


def _row(status: int, title: tuple[str, str], detail: tuple[str, str]) -> Row:
    return Row(status, {"en": title[0], "zh": title[1]}, {"en": detail[0], "zh": detail[1]})


TABLE: dict[str, Row] = {
    "bad-request": _row(
        422,
        ("The request is not well-formed", "请求格式不正确"),
        (
            "{field}: {reason}. Correct this field and send the request again; /docs lists what each route accepts.",
            "{field}：{reason}。请改正这个字段后重新发送；/docs 列出了每个接口接受的内容。",
        ),
    ),
    "bad-json": _row(
        400,
        ("The body is not JSON", "请求体不是 JSON"),
        (
            "The body cannot be read as JSON: {reason}. Send one JSON object with Content-Type: application/json.",
            "请求体无法按 JSON 读取：{reason}。请发送一个 JSON 对象，并带上 Content-Type: application/json。",
        ),
    ),
    "bad-input": _row(422, ("The expression cannot be run", "表达式无法运行"), ("{reason}", "{reason}")),
    "too-large": _row(
        413,
        ("The program is too long", "程序太长"),
        (
            "The {what} has {size} bytes; at most {limit} are accepted. Shorten it and send it again.",
            "{what} 有 {size} 字节，最多接受 {limit} 字节。请缩短后重新发送。",
        ),
    ),
    "body-too-large": _row(
        413,
        ("The request is too large", "请求太大"),
        (
            "The body has more than {limit} bytes, the most that is read. Send a shorter program or smaller inputs.",
            "请求体超过 {limit} 字节的上限。请缩短程序或减小输入。",
        ),
    ),
    "limit-raised": _row(
        422,
        ("A limit may only be lowered", "限制只能调低"),
        (
            "limits.{name} = {value} is above the operator's {limit}. Leave it out or ask for at most {limit}.",
            "limits.{name} = {value} 高于服务设定的 {limit}。请省略它，或不超过 {limit}。",
        ),
    ),
    "no-such-device": _row(
        422,
        ("This machine has no such device", "这台机器没有该设备"),
        (
            "device = {device}, but this machine has {devices}. Choose one of them, or `auto`.",
            "device = {device}，但这台机器只有 {devices}。请选择其中之一，或使用 `auto`。",
        ),
    ),
    "no-such-run": _row(
        404,
        ("No such run", "没有这次运行"),
        (
            "There is no run {run} here: it was never made, or it was removed to make room. "
            "Run its program again (API: POST /api/v1/runs).",
            "这里没有运行 {run}：它从未产生，或者已为腾出空间而删除。请重新运行它的程序（API：POST /api/v1/runs）。",
        ),
    ),
    "no-such-snapshot": _row(
        404,
        ("No such snapshot", "没有这个快照"),
        (
            "There is no snapshot {snapshot} here: it was never made, or whoever made it has deleted it.",
            "这里没有快照 {snapshot}：它从未产生，或者制作它的人已将其删除。",
        ),
    ),
    "foreign-snapshot": _row(
        410,
        ("The snapshot is of another version", "快照的版本不同"),
        (
            "Snapshot {snapshot} is stored as {found}, and this server reads {format}. It was made by a newer "
            "Gradgraph, or is damaged: ask who runs this server.",
            "快照 {snapshot} 的存储格式是 {found}，而此服务器读取 {format}。它由更新的 Gradgraph 制作，或者已损坏："
            "请询问服务的运营者。",
        ),
    ),
    "not-your-snapshot": _row(
        403,
        ("Not your snapshot", "不是你的快照"),
        (
            "Snapshot {snapshot} is not kept for the owner of this token. Send the token that its making was answered "
            "with, in the header Owner-Token.",
            "快照 {snapshot} 并非为持有此令牌的人保存。请在请求头 Owner-Token 中发送制作时得到的令牌。",
        ),
    ),
    "no-such-step": _row(
        422,
        ("The run has no such step", "这次运行没有这一步"),
        (
            "step = {step}, but {run} has {total} steps. Ask for a step from 0 to {total}.",
            "step = {step}，但 {run} 只有 {total} 步。请使用 0 到 {total} 之间的步数。",
        ),
    ),
    "snapshot-too-large": _row(
        413,
        ("The snapshot is too large", "快照太大"),
        (
            "Compressed, the snapshot takes {size} bytes; at most {limit} are kept. Record less: a shorter loop, "
            "smaller tensors.",
            "快照压缩后有 {size} 字节，最多保存 {limit} 字节。请减少记录：缩短循环，减小张量。",
        ),
    ),
    "too-many-snapshots": _row(
        429,
        ("Too many snapshots", "快照太多"),
        (
            "This network address has made {limit} snapshots within an hour, the most it may. Wait as long as "
            "`Retry-After` says.",
            "这个网络地址在一小时内制作了 {limit} 个快照，已达上限。请按 `Retry-After` 给出的秒数等待。",
        ),
    ),
    "snapshots-full": _row(
        507,
        ("There is no room for snapshots", "快照空间已满"),
        (
            "All snapshots together may take {limit} MB here, and they do; none is removed to make room. Delete one of "
            "yours, or ask who runs this server for more.",
            "此服务器的快照总共可占 {limit} MB，现已占满；不会为腾出空间而删除任何快照。请删除一个自己的快照，"
            "或请运营者增加空间。",
        ),
    ),
    "no-such-room": _row(
        404,
        ("No such room", "没有这个课堂"),
        (
            "There is no open room {room}: the code is another one, or the room was closed. Ask your teacher for the "
            "code.",
            "没有开放的课堂 {room}：代码有误，或者课堂已经关闭。请向老师确认代码。",
        ),
    ),
    "not-your-room": _row(
        403,
        ("Not your room", "不是你的课堂"),
        (
            "Only the teacher who opened room {room} can do this. Send the token that its opening was answered with, "
            "in the header Owner-Token.",
            "只有开设课堂 {room} 的老师可以这样做。请在请求头 Owner-Token 中发送开设时得到的令牌。",
        ),
    ),
    "question-not-open": _row(
        409,
        ("The question is not asked now", "现在没有问这个问题"),
        (
            "Question {question} is not being asked in room {room}: its answer is shown already, or its turn has not "
            "come. Answer the one on your page.",
            "课堂 {room} 现在没有问第 {question} 题：答案已经公布，或者还没有轮到它。请回答页面上的问题。",
        ),
    ),
    "room-full": _row(
        409,
        ("The room is full", "课堂已满"),
        (
            "Room {room} has {limit} learners, the most it takes. Follow on the teacher's screen, or ask the teacher "
            "for another room.",
            "课堂 {room} 已有 {limit} 名学生，达到上限。请看老师的屏幕，或请老师另开一个课堂。",
        ),
    ),
    "answer-too-long": _row(
        422,
        ("The answer is too long", "答案太长"),
        (
            "The answer has {length} characters; at most {limit} are taken. Shorten it and send it again.",
            "答案有 {length} 个字符，最多接受 {limit} 个。请缩短后重新发送。",
        ),
    ),
    "nothing-asked": _row(
        422,
        ("The program asks nothing", "程序没有提问"),
        (
            "The program of {run} has no question that can be answered; a room needs one. Write one as a comment, such "
            "as `# ? x.grad`, and run it.",
            "{run} 的程序没有可以回答的问题，而课堂至少需要一个。请用注释写一个问题，例如 `# ? x.grad`，然后运行。",
        ),
    ),
    "no-such-question": _row(
        422,
        ("No such question", "没有这个问题"),
        (
            "The room's program has {count} questions that can be answered, and number {question} is none of them. "
            "They count from 0 to {last}.",
            "课堂的程序有 {count} 个可以回答的问题，没有编号为 {question} 的。编号从 0 到 {last}。",
        ),
    ),
    "nameless": _row(
        422,
        ("The learner has no name", "学生没有名称"),
        (
            "A room counts each browser once, by the cookie of its page. Allow cookies and load the page again; a "
            "program sends any name of its own in the header Gradgraph-Session.",
            "课堂按页面的 cookie 识别浏览器，每个只计一次。请允许 cookie 并重新打开页面；程序可以在请求头 "
            "Gradgraph-Session 中发送任意名称。",
        ),
    ),
    "too-many-answers": _row(
        429,
        ("Too many answers", "回答太频繁"),
        (
            "You have changed your answer too often. It stays as it is; try again in {retry} s.",
            "你修改答案太频繁。当前的答案不变；请在 {retry} 秒后重试。",
        ),
    ),
    "too-many-rooms": _row(
        429,
        ("Too many rooms", "课堂太多"),
        (
            "This network address has opened {limit} rooms within an hour, the most it may. Wait as long as "
            "`Retry-After` says.",
            "这个网络地址在一小时内开设了 {limit} 个课堂，已达上限。请按 `Retry-After` 给出的秒数等待。",
        ),
    ),
    "rooms-full": _row(
        503,
        ("No more rooms can be opened", "无法再开设课堂"),
        (
            "{limit} rooms are all that may be open here at the same time. Try again when one has closed, or ask who "
            "runs this server for more.",
            "此服务器最多同时开放 {limit} 个课堂。请等其中一个关闭后重试，或请运营者增加数量。",
        ),
    ),
    "rooms-down": _row(
        503,
        ("Rooms cannot be reached", "暂时无法连接课堂"),
        (
            "What is said in rooms cannot be passed on at the moment. Try again in {retry} s.",
            "课堂里的消息目前无法传递。请在 {retry} 秒后重试。",
        ),
    ),
    "other-format": _row(
        410,
        ("The trace is in another format", "轨迹的格式不同"),
        (
            "Run {run} was recorded as {found}, and this server reads {format}. "
            "Run its program again (API: POST /api/v1/runs).",
            "运行 {run} 以 {found} 格式记录，而此服务器读取 {format}。请重新运行它的程序（API：POST /api/v1/runs）。",
        ),
    ),
    "no-such-derivative": _row(
        404,
        ("No such formula", "没有这个公式"),
        (
            "PyTorch's table has no formula for {node_type}: it knows node types such as MulBackward0, "
            "not AccumulateGrad or custom Functions. GET /api/v1/rules lists the readable rules.",
            "PyTorch 的表里没有 {node_type} 的公式：那里只有 MulBackward0 这样的节点类型，没有 AccumulateGrad，"
            "也没有自定义 Function。GET /api/v1/rules 列出可读的规则。",
        ),
    ),
    "not-your-run": _row(
        403,
        ("Not your run", "不是你的运行"),
        (
            "Run {run} was asked for by another client, and only that one can end it. "
            "Wait for it, or run the program again.",
            "运行 {run} 是别的客户端提交的，只有提交者能结束它。请等它结束，或者重新运行你的程序。",
        ),
    ),
    "run-not-finished": _row(
        409,
        ("The run has not finished", "运行尚未结束"),
        (
            "Run {run} is {state}. Follow {events} and ask again when it has finished.",
            "运行 {run} 的状态是 {state}。请关注 {events}，结束后再请求。",
        ),
    ),
    "no-such-pass": _row(
        404,
        ("No such backward pass", "没有这次反向传播"),
        (
            "Run {run} has no pass {pass_id}; its passes are listed under `passes` in {trace}.",
            "运行 {run} 中没有反向传播 {pass_id}；它的反向传播列在 {trace} 的 `passes` 里。",
        ),
    ),
    "no-such-tensor": _row(
        404,
        ("No such tensor", "没有这个张量"),
        (
            "Run {run} has no tensor {tensor}; its tensors are listed under `tensors` in {trace}.",
            "运行 {run} 中没有张量 {tensor}；它的张量列在 {trace} 的 `tensors` 里。",
        ),
    ),
    "values-not-kept": _row(
        404,
        ("The values were not kept", "没有保留这些数值"),
        (
            "Tensor {tensor} of run {run} has {count} elements and only its summary was kept ({reason}). "
            "Use `summary` and `thumbnail` of the trace, or print the part you need in the program.",
            "运行 {run} 的张量 {tensor} 有 {count} 个元素，只保留了摘要（{reason}）。"
            "请使用轨迹中的 `summary` 和 `thumbnail`，或在程序里打印需要的部分。",
        ),
    ),
    "no-such-choice": _row(
        422,
        ("The graph has no such part", "计算图没有这一部分"),
        (
            "{reason}. GET the graph without parameters: it lists its `roots` and their passes.",
            "{reason}。不带参数请求计算图，可以看到它的 `roots` 及其反向传播。",
        ),
    ),
    "graph-too-large": _row(
        422,
        ("The graph is too large to draw", "图太大，无法绘制"),
        (
            "The graph has {boxes} boxes; at most {limit} are drawn as a picture. "
            "Choose one root or pass, or read it as JSON, DOT or Mermaid.",
            "这张图有 {boxes} 个节点，图片最多绘制 {limit} 个。请选择一个根或一次反向传播，或改用 JSON、DOT、Mermaid。",
        ),
    ),
    "no-such-lesson": _row(
        404,
        ("No such gallery program", "没有这个示例"),
        (
            "There is no gallery program {name}; GET /api/v1/gallery lists them.",
            "没有名为 {name} 的示例；GET /api/v1/gallery 列出了全部示例。",
        ),
    ),
    "not-embeddable": _row(
        404,
        ("Nothing here can be shown elsewhere", "这里没有可嵌入的内容"),
        (
            "{url} is no page of this server that other sites can show. "
            "Ask for {host}s/… (a snapshot) or {host}embed/… (a snapshot or run).",
            "{url} 不是此服务器上可以嵌入其他网站的页面。请使用 {host}s/…（快照）或 {host}embed/…（快照或运行）。",
        ),
    ),
    "no-such-oembed-format": _row(
        501,
        ("There is no such oEmbed format", "没有这种 oEmbed 格式"),
        (
            "format = {asked}, but oEmbed is answered as `json` and as `xml` here.",
            "format = {asked}，但这里的 oEmbed 只有 `json` 和 `xml` 两种格式。",
        ),
    ),
    "no-such-page": _row(
        404,
        ("No such page", "没有这个页面"),
        ("{path} does not exist here; /docs lists the routes.", "这里没有 {path}；/docs 列出了所有接口。"),
    ),
    "method-not-allowed": _row(
        405,
        ("The route does not answer this method", "该接口不支持此方法"),
        (
            "{path} does not answer {method}; /docs lists what it does.",
            "{path} 不支持 {method}；/docs 列出了它支持的方法。",
        ),
    ),
    "too-fast": _row(
        429,
        ("Too many requests", "请求太频繁"),
        (
            "This network address asks for more than {limit} runs a second. Wait as long as `Retry-After` says.",
            "这个网络地址每秒请求的运行超过了 {limit} 次。请按 `Retry-After` 给出的秒数等待。",
        ),
    ),
    "too-many-runs": _row(
        429,
        ("Too many runs at once", "同时运行太多"),
        (
            "{count} runs from your address are waiting or running; at most {limit} may be. Wait for one to finish.",
            "你的地址有 {count} 次运行正在等待或执行，最多允许 {limit} 次。请等其中一次结束。",
        ),
    ),
    "replaced": _row(
        429,
        ("A newer run took its place", "已被更新的运行取代"),
        (
            "This run was waiting when a newer one came from the same page; one may run and one may wait. "
            "Send it again when you still need it.",
            "这次运行还在等待时，同一页面提交了更新的运行；同时只能有一次执行、一次等待。如仍需要，请重新提交。",
        ),
    ),
    "queue-full": _row(
        503,
        ("The queue is full", "队列已满"),
        (
            "{count} runs are waiting, the most this server takes. Try again in {retry} s.",
            "已有 {count} 次运行在等待，达到服务器上限。请在 {retry} 秒后重试。",
        ),
    ),
    "busy": _row(
        503,
        ("Too many views at once", "同时请求的视图太多"),
        (
            "{count} graphs or pictures are being made, the most this server takes. Try again in {retry} s.",
            "正在生成 {count} 个图或图片，达到服务器上限。请在 {retry} 秒后重试。",
        ),
    ),
    "no-worker": _row(
        503,
        ("No worker could take the run", "没有可用的执行进程"),
        (
            "The worker process was lost twice before the program ended. Try again in {retry} s.",
            "执行进程在程序结束前两次丢失。请在 {retry} 秒后重试。",
        ),
    ),
    "no-node": _row(
        503,
        ("No worker could take the run", "没有能执行这次运行的机器"),
        (
            "No worker node is here that could run a program on device = {device}. Try again in {retry} s, or ask who "
            "runs this service.",
            "目前没有能在 device = {device} 上运行程序的工作节点。请在 {retry} 秒后重试，或询问服务的运营者。",
        ),
    ),
    "no-leader": _row(
        503,
        ("The queue cannot be reached", "暂时无法连接队列"),
        (
            "The queue of this service does not answer. Stored traces are still there; try a new program again in "
            "{retry} s.",
            "服务的队列没有回应。已存储的轨迹仍可查看；请在 {retry} 秒后重新提交新程序。",
        ),
    ),
    "costs-workers": _row(
        503,
        ("The run costs workers", "这次运行会使执行机器丢失"),
        (
            "{count} workers were lost while they performed run {run}. It is not tried again for {retry} s.",
            "执行运行 {run} 时已有 {count} 台工作节点丢失。{retry} 秒内不会再次尝试。",
        ),
    ),
    "cancelled": _row(
        503,
        ("The run was cancelled", "运行已取消"),
        (
            "Run {run} was cancelled before it finished. Send it again when you still need it.",
            "运行 {run} 在结束前被取消。如仍需要，请重新提交。",
        ),
    ),
    "stopped": _row(
        503,
        ("The server stopped", "服务已停止"),
        (
            "This server was told to stop before the request was answered. Send it again in {retry} s.",
            "服务在回答这个请求之前被要求停止。请在 {retry} 秒后重新发送。",
        ),
    ),
    "store-down": _row(
        503,
        ("The store cannot be used", "存储暂时不可用"),
        (
            "Stored runs and snapshots cannot be read, or no more can be kept, at the moment; new programs still run. "
            "Ask again in a few seconds; if it lasts, ask who runs this server.",
            "目前无法读取已存储的运行和快照，或者无法再保存；新的程序仍可运行。请过几秒再试；"
            "如果一直如此，请询问服务的运营者。",
        ),
    ),
    "no-picture": _row(
        503,
        ("Pictures cannot be drawn here", "这里无法绘制图片"),
        (
            "The drawing code is not built: {missing} does not exist. Build the frontend (./run serve does it), "
            "or ask for .dot or .mmd.",
            "绘图代码尚未构建：缺少 {missing}。请构建前端（./run serve 会自动构建），或改用 .dot、.mmd。",
        ),
    ),
    "drawing-failed": _row(
        503,
        ("The picture could not be drawn", "图片绘制失败"),
        (
            "Drawing the graph took more than {limit}. Choose one root or pass, or ask for .dot or .mmd.",
            "绘制这张图超过了{limit}。请选择一个根或一次反向传播，或改用 .dot、.mmd。",
        ),
    ),
    "drawing-lost": _row(
        503,
        ("The picture was lost", "图片未能画完"),
        (
            "The process that draws ended before the picture was there: it was killed, or needed more memory than it "
            "may have. Ask again in a second; if it happens again, choose one root or pass, or ask for .dot or .mmd.",
            "绘图进程在图片完成之前就结束了：它被终止，或者需要的内存超出了允许的上限。请过一秒再试；"
            "如果再次发生，请选择一个根或一次反向传播，或改用 .dot、.mmd。",
        ),
    ),
    "no-export": _row(
        503,
        ("This format is not installed here", "这里没有安装这种格式"),
        (
            "{name} needs the `{extra}` extra: pip install 'gradgraph[{extra}]'. The same picture is there as .svg.",
            "{name} 需要安装 `{extra}` 扩展：pip install 'gradgraph[{extra}]'。同一张图可用 .svg 获取。",
        ),
    ),
    "bug": _row(
        500,
        ("Gradgraph has a bug", "Gradgraph 出现了错误"),
        (
            "This is our mistake, not yours. It is logged as {incident}; report this id.",
            "这是我们的错误，不是你的。日志编号为 {incident}，请报告这个编号。",
        ),
    ),
}


def table() -> str:
    """All problems as a Markdown table, for docs/api.md."""
    ordered = sorted(TABLE.items(), key=lambda item: (item[1].status, item[0]))
    rows = "".join(
        f"| {row.status} | `{key}` | {row.title['en']} | {row.detail['en']} |\n".replace("{", "*").replace("}", "*")
        for key, row in ordered
    )
    return f"| Status | Key | Title | Sentence |\n|---|---|---|---|\n{rows}"


if __name__ == "__main__":
    sys.stdout.write(table())
