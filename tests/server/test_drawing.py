"""Drawing in V8: limits hold, failures say little, the bundle is read again when it was built again."""

import asyncio
import os
from pathlib import Path

import pytest

from server import drawing
from server.drawing import Drawing, DrawingBroken
from server.exports import zoom_of
from server.problems import Problem


def draw(bundle: Path, *scripts: str, trace: bytes = b'"t"') -> list[str]:
    """What each version of a bundle draws, one after the other."""

    async def one_after_the_other() -> list[str]:
        canvas = Drawing(bundle)
        try:
            drawn = []
            for number, script in enumerate(scripts):
                bundle.write_text(f"globalThis.gradgraphSvg = {script}")
                os.utime(bundle, (number, number))
                drawn.append(await canvas.svg(trace, b'"g"', b'"o"'))
            return drawn
        finally:
            await canvas.close()

    return asyncio.run(one_after_the_other())


def test_trace_graph_and_options_reach_the_bundle(tmp_path: Path) -> None:
    script = "(t, g, o) => JSON.parse(t) + JSON.parse(g) + JSON.parse(o)"
    assert draw(tmp_path / "b.js", script, trace='"图"'.encode()) == ["图go"]


def test_a_layout_is_asked_of_its_own_function(tmp_path: Path) -> None:
    bundle = tmp_path / "b.js"
    bundle.write_text("globalThis.gradgraphLayout = (t, g, o) => t + g + o")

    async def lay_out() -> str:
        canvas = Drawing(bundle)
        try:
            return await canvas.layout(b'"t"', b'"g"', b'"o"')
        finally:
            await canvas.close()

    assert asyncio.run(lay_out()) == '"t""g""o"'


def test_a_newly_built_bundle_is_used(tmp_path: Path) -> None:
    assert draw(tmp_path / "b.js", "() => 'old'", "() => 'new'") == ["old", "new"]


def test_what_dagre_needs_is_there(tmp_path: Path) -> None:
    assert draw(tmp_path / "b.js", "() => structuredClone({a: [1]}).a[0] + '' + structuredClone(undefined)") == [
        "1undefined"
    ]


def test_without_a_bundle_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        asyncio.run(Drawing(tmp_path / "none.js").svg(b"", b"", b""))
    assert (refused.value.key, refused.value.values["missing"]) == ("no-picture", "server/assets/none.js")


@pytest.mark.parametrize(
    "script",
    [
        "() => { for (;;); }",
        "() => 'x'.repeat(2000)",
        "() => { const a = []; for (;;) a.push(new Array(1e6).fill(7)) }",
    ],
)
def test_time_size_and_memory_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(drawing, "TIME_LIMIT_S", 1.0)
    monkeypatch.setattr(drawing, "SVG_BYTES", 1000)
    monkeypatch.setattr(drawing, "HEAP_BYTES", 50 * 1024**2)
    with pytest.raises(Problem) as refused:
        draw(tmp_path / "b.js", script)
    assert refused.value.key == "drawing-failed"


def test_after_a_failure_the_next_picture_is_drawn(tmp_path: Path) -> None:
    async def fail_then_draw() -> str:
        bundle = tmp_path / "b.js"
        bundle.write_text(
            "let n = 0; globalThis.gradgraphSvg = (t) => { if (t === '1') throw Error('broken'); return 'ok' }"
        )
        canvas = Drawing(bundle)
        try:
            with pytest.raises(DrawingBroken):
                await canvas.svg(b"1", b"", b"")
            return await canvas.svg(b"2", b"", b"")
        finally:
            await canvas.close()

    assert asyncio.run(fail_then_draw()) == "ok"


def test_the_users_program_does_not_get_into_the_log(tmp_path: Path) -> None:
    with pytest.raises(DrawingBroken, match="ReferenceError") as broken:
        draw(tmp_path / "b.js", "() => missing", trace=b'"my secret program"')
    assert "secret" not in str(broken.value)


@pytest.mark.parametrize(("width", "height", "zoom"), [(400, 300, 2.0), (10_000, 12_000, 0.5), (0, 0, 2.0)])
def test_a_large_picture_has_fewer_pixels_for_each_unit(width: int, height: int, zoom: float) -> None:
    assert zoom_of(f'<svg viewBox="0 0 9 9" width="{width}" height="{height}"><rect width="1" height="1"/>') == zoom
