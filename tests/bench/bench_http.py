"""Latency and throughput over HTTP: a real server process, a client on the same machine."""

import contextlib
import gzip
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx

CALLS = 60
START_S = 60.0
SERIES = 120
CLIENTS = 4

MEAN = {"expression": "((x + 2)**2 * 3).mean()", "inputs": {"x": [[1, 1], [1, 1]]}}
CHAIN = """import torch
x = torch.tensor(1.0, requires_grad=True)
y = x
for i in range({ops}):
    y = y * 1.0001
y.backward()
"""


def main() -> None:
    """Prints the figures."""
    with serving() as http:
        row("((x+2)**2*3).mean(), warm, not cached", "20 ms", timed(lambda n: run(http, MEAN, seed=n)))
        row("  of which inside the sandbox (start, run)", "10 ms", inside(http))
        row("((x+2)**2*3).mean(), cached", "3 ms", timed(lambda n: run(http, MEAN, seed=1)))
        stored = run(http, MEAN, seed=1)["id"]
        row("GET of a stored trace", "3 ms", timed(lambda n: get(http, stored)))
        print(f"{f'runs/s, {CLIENTS} clients':48} {throughput(http):7.1f}      budget 80")
        large(http, 10_000)


def timed(call: Callable[[int], object], calls: int = CALLS) -> list[float]:
    """Milliseconds of each call, after a few to warm up."""
    times = []
    for number in range(calls + 5):
        began = time.perf_counter()
        call(number + 1)
        times.append((time.perf_counter() - began) * 1000)
    return times[5:]


def row(what: str, budget: str, times: list[float]) -> None:
    """One line of figures."""
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(f"{what:48} p50 {statistics.median(times):6.2f} ms   p95 {p95:6.2f} ms   budget {budget}")


def run(http: httpx.Client, body: Mapping[str, object], seed: int) -> dict[str, str]:
    """Post a run; a new seed is a new run."""
    answer = http.post("/api/v1/runs", json={**body, "seed": seed})
    answer.raise_for_status()
    trace: dict[str, str] = answer.json()
    return trace


def get(http: httpx.Client, run_id: str) -> bytes:
    """The stored trace."""
    return http.get(f"/api/v1/runs/{run_id}").content


def inside(http: httpx.Client) -> list[float]:
    """Milliseconds from giving a worker its request to its end, as the traces say."""
    traces = [http.post("/api/v1/runs", json={**MEAN, "seed": 10_000 + n}).json() for n in range(CALLS)]
    return [trace["timings"].get("start_ms", 0) + trace["timings"].get("run_ms", 0) for trace in traces]


def throughput(http: httpx.Client) -> float:
    """Uncached runs a second with several clients."""
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(lambda n: run(http, MEAN, seed=20_000 + n), range(SERIES)))
    return SERIES / (time.perf_counter() - began)


def large(http: httpx.Client, ops: int) -> None:
    """A trace of many nodes: where the time goes and what it weighs."""
    began = time.perf_counter()
    answer = http.post("/api/v1/runs", json={"code": CHAIN.format(ops=ops)})
    took_ms = (time.perf_counter() - began) * 1000
    trace = answer.json()
    timings = trace["timings"]
    sent = int(answer.headers["content-length"])
    print(
        f"{len(trace['nodes']):,} nodes: {took_ms:.0f} ms in all, {timings['run_ms']:.0f} ms run, "
        f"{timings['assemble_ms']:.0f} ms assemble; {len(answer.content) / 1e6:.1f} MB JSON, {sent / 1e6:.2f} MB gzip "
        f"(budget 250 ms assemble + encode, 1 MB)"
    )
    for level in ("autograd", "both"):
        began = time.perf_counter()
        graph = http.get(f"/api/v1/runs/{trace['id']}/graph", params={"level": level})
        print(f"  graph {level}: {(time.perf_counter() - began) * 1000:.0f} ms, {len(graph.content) / 1e6:.1f} MB JSON")
    encode(trace)


def encode(trace: dict[str, object]) -> None:
    """How long encoding and compressing a trace takes by itself."""
    import msgspec

    from engine.trace import Trace

    decoded = msgspec.convert(trace, Trace)
    body = msgspec.json.encode(decoded)
    encoding = timed(lambda n: msgspec.json.encode(decoded), calls=5)
    zipping = timed(lambda n: gzip.compress(body, 3), calls=5)
    print(f"  encode {statistics.median(encoding):.0f} ms, compress {statistics.median(zipping):.0f} ms")


@contextmanager
def serving() -> Iterator[httpx.Client]:
    """A server process with an empty store."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GRADGRAPH_DATA_DIR": folder, "GRADGRAPH_WARM_GALLERY": "0"}
        server = subprocess.Popen([sys.executable, "-m", "server", "--port", str(port)], env=environment)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                wait_for(http, server)
                yield http
        finally:
            server.terminate()
            server.wait(20)


def wait_for(http: httpx.Client, server: subprocess.Popen[bytes]) -> None:
    """Return when the server performs runs: it answers seconds before it does."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            health = http.get("/api/v1/health").json()
            if health["isolation"] is not None:
                print(json.dumps(health["isolation"]))
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
