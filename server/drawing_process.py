"""`python -m server.drawing_process` draws, for `server/drawing.py`. What takes too long or too much ends this process:
the next picture finds another one."""

import os
import resource
import signal
from pathlib import Path

import msgspec
from py_mini_racer import JSEvalException, JSOOMException, MiniRacer

from server.child import jobs
from server.drawing_jobs import OUT_OF_MEMORY, Broken, Job, Made, Pdf, Png, Script

DATA_BYTES = 2 * 1024**3
"""What it may have of memory; of the stacks and tables of V8, which it hardly touches, there are 0.6 of these."""
MESSAGE_CHARACTERS = 200
PRELUDE = "globalThis.structuredClone = (value) => value && JSON.parse(JSON.stringify(value))"
"""dagre 3.1 copies its options, plain data, with a function that browsers have and V8 alone has not."""


class Context:
    """The bundle in V8, read again when it was built again."""

    def __init__(self) -> None:
        self._racer: MiniRacer | None = None
        self._built: tuple[str, float] | None = None

    def call(self, script: Script) -> Made | Broken:
        """What a function of the bundle gives."""
        try:
            made = self._ready(script).call(script.function, *script.texts)
        except JSOOMException:
            os._exit(OUT_OF_MEMORY)
        except JSEvalException as failed:  # its whole text holds the call, and with it the user's program
            return Broken(str(failed).partition("\n")[0][:MESSAGE_CHARACTERS])
        return Made(made.encode()) if isinstance(made, str) else Broken(f"{script.function} gives no text")

    def _ready(self, script: Script) -> MiniRacer:
        built = (script.bundle, Path(script.bundle).stat().st_mtime)
        if self._racer is None or built != self._built:
            if self._racer is not None:
                self._racer.close()
            self._racer = MiniRacer()
            self._racer.set_hard_memory_limit(script.heap_bytes)
            self._racer.eval(PRELUDE)
            self._racer.eval(Path(script.bundle).read_text("utf-8"))
            self._built = built
        return self._racer


def png(job: Png) -> bytes:
    """A picture as pixels."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=job.svg, zoom=job.zoom))


def pdf(job: Pdf) -> bytes:
    """A picture as one page."""
    import typst

    page = f"#set page(width: {job.width_pt}pt, height: {job.height_pt}pt, margin: 0pt)"
    document = f'{page}\n#image(bytes(sys.inputs.svg), format: "svg", width: 100%)'
    return typst.compile(document.encode(), sys_inputs={"svg": job.svg})


def main() -> None:
    """Draw until the service hangs up."""
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
    context = Context()
    for asked, answer in jobs():
        job = msgspec.msgpack.decode(asked, type=Job)
        signal.setitimer(signal.ITIMER_REAL, job.wall_s)  # the signal's own action is to end the process
        made = drawn(context, job.what)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer(msgspec.msgpack.encode(made))


def drawn(context: Context, what: Script | Png | Pdf) -> Made | Broken:
    """What comes of a job."""
    match what:
        case Script():
            return context.call(what)
        case Png():
            return Made(png(what))
        case Pdf():
            return Made(pdf(what))


if __name__ == "__main__":
    main()
