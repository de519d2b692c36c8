"""Drawing in a process of its own: limits hold, failures say little, the bundle is read again when it was built again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from server.drawing import Drawing, DrawingBroken, DrawingLimits, zoom_of
from server.problems import Problem

PATIENCE_S = 60.0
USUAL = DrawingLimits()
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9" height="9"><rect width="9" height="9"/></svg>'
)


@asynccontextmanager
async def canvas(bundle: Path, script: str, limits: DrawingLimits = USUAL) -> AsyncIterator[Drawing]:
    """What draws by a bundle that says this of pictures."""
    bundle.write_text(f"globalThis.gradgraphSvg = {script}")
    drawing = Drawing(bundle, limits)
    try:
        yield drawing
    finally:
        await drawing.close()


def draw(folder: Path, script: str, trace: bytes = b'"t"', limits: DrawingLimits = USUAL) -> bytes:
    """What a bundle draws."""

    async def drawn() -> bytes:
        async with canvas(folder / "b.js", script, limits) as drawing:
            return await drawing.svg(trace, b'"g"', b'"o"')

    return asyncio.run(drawn())


def test_trace_graph_and_options_reach_the_bundle(tmp_path: Path) -> None:
    script = "(t, g, o) => JSON.parse(t) + JSON.parse(g) + JSON.parse(o)"
    assert draw(tmp_path, script, '"图"'.encode()).decode() == "图go"


def test_a_layout_is_asked_of_its_own_function(tmp_path: Path) -> None:
    async def lay_out() -> bytes:
        async with canvas(tmp_path / "b.js", "0; globalThis.gradgraphLayout = (t, g, o) => t + g + o") as drawing:
            return await drawing.layout(b'"t"', b'"g"', b'"o"')

    assert asyncio.run(lay_out()) == b'"t""g""o"'


def test_a_newly_built_bundle_is_used_by_the_same_process(tmp_path: Path) -> None:
    async def draw_twice() -> tuple[bytes, bytes]:
        bundle = tmp_path / "b.js"
        async with canvas(bundle, "() => 'old'") as drawing:
            old, process = await drawing.svg(b"", b"", b""), drawing.pid
            bundle.write_text("globalThis.gradgraphSvg = () => 'new'")
            os.utime(bundle, (1, 1))
            new = await drawing.svg(b"", b"", b"")
            assert drawing.pid == process is not None
            return old, new

    assert asyncio.run(draw_twice()) == (b"old", b"new")


def test_what_dagre_needs_is_there(tmp_path: Path) -> None:
    script = "() => structuredClone({a: [1]}).a[0] + '' + structuredClone(undefined)"
    assert draw(tmp_path, script) == b"1undefined"


def test_without_a_bundle_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        asyncio.run(Drawing(tmp_path / "none.js").svg(b"", b"", b""))
    assert (refused.value.key, refused.value.values["missing"]) == ("no-picture", "server/assets/none.js")


@pytest.mark.parametrize(
    ("script", "limits", "key", "limit"),
    [
        ("() => { for (;;); }", DrawingLimits(wall_s=0.3), "drawing-failed", " 0.3 s"),
        ("() => 'x'.repeat(2000)", DrawingLimits(made_bytes=1000), "drawing-failed", " 0 MiB"),
        (
            "() => { const a = []; for (;;) a.push(new Array(1e6).fill(7)) }",
            DrawingLimits(wall_s=PATIENCE_S, heap_bytes=50 * 1024**2),
            "drawing-failed",
            " 50 MiB",
        ),
    ],
    ids=["time", "size", "memory"],
)
def test_a_limit_ends_the_picture(tmp_path: Path, script: str, limits: DrawingLimits, key: str, limit: str) -> None:
    with pytest.raises(Problem) as refused:
        draw(tmp_path, script, limits=limits)
    assert (refused.value.key, refused.value.values["limit"]) == (key, limit)


def test_memory_that_is_not_v8_s_is_limited_too(tmp_path: Path) -> None:
    script = "() => { const a = []; for (;;) a.push(new Uint8Array(2 ** 26)) }"
    with pytest.raises(DrawingBroken, match="allocation failed"):
        draw(tmp_path, script, limits=DrawingLimits(wall_s=PATIENCE_S))


def test_pixels_and_pages_are_made_there_too(tmp_path: Path) -> None:
    async def made() -> tuple[bytes, bytes]:
        async with canvas(tmp_path / "b.js", "0") as drawing:
            return await drawing.png(SVG), await drawing.pdf(SVG)

    png, pdf = asyncio.run(made())
    assert png.startswith(b"\x89PNG")
    assert pdf.startswith(b"%PDF-")


def test_after_a_failure_the_next_picture_is_drawn(tmp_path: Path) -> None:
    async def fail_then_draw() -> bytes:
        script = "(t) => { if (t === '1') throw Error('broken'); return 'ok' }"
        async with canvas(tmp_path / "b.js", script) as drawing:
            with pytest.raises(DrawingBroken):
                await drawing.svg(b"1", b"", b"")
            return await drawing.svg(b"2", b"", b"")

    assert asyncio.run(fail_then_draw()) == b"ok"


def test_a_process_that_is_lost_costs_one_picture(tmp_path: Path) -> None:
    script = "(t) => { if (t === '1') for (;;); return 'ok' }"

    async def lose_then_draw() -> bytes:
        async with canvas(tmp_path / "b.js", script, DrawingLimits(wall_s=PATIENCE_S)) as drawing:
            assert await drawing.svg(b"", b"", b"") == b"ok"
            lost = asyncio.create_task(drawing.svg(b"1", b"", b""))
            next_one = asyncio.create_task(drawing.svg(b"2", b"", b""))
            await asyncio.sleep(0)
            assert drawing.pid is not None
            os.kill(drawing.pid, signal.SIGKILL)
            with pytest.raises(Problem) as told:
                await lost
            assert (told.value.key, told.value.retry_after_s) == ("drawing-lost", 1)
            return await next_one

    assert asyncio.run(lose_then_draw()) == b"ok"


def test_it_is_there_while_pictures_are_wanted(tmp_path: Path) -> None:
    async def draw_and_rest() -> None:
        async with canvas(tmp_path / "b.js", "() => 'ok'", DrawingLimits(idle_s=0.0)) as drawing:
            assert drawing.pid is None
            for _ in range(2):
                assert await drawing.svg(b"", b"", b"") == b"ok"
                async with asyncio.timeout(PATIENCE_S):
                    while drawing.pid is not None:
                        await asyncio.sleep(0.01)

    asyncio.run(draw_and_rest())


def test_the_users_program_does_not_get_into_the_log(tmp_path: Path) -> None:
    with pytest.raises(DrawingBroken, match="ReferenceError") as broken:
        draw(tmp_path, "() => missing", trace=b'"my secret program"')
    assert "secret" not in str(broken.value)


@pytest.mark.parametrize(("width", "height", "zoom"), [(400, 300, 2.0), (10_000, 12_000, 0.5), (0, 0, 2.0)])
def test_a_large_picture_has_fewer_pixels_for_each_unit(width: int, height: int, zoom: float) -> None:
    assert zoom_of(f'<svg viewBox="0 0 9 9" width="{width}" height="{height}"><rect width="1" height="1"/>') == zoom
