"""The broker's configuration: an account of the web nodes and one of the workers, each user with only its own subjects.

All that is kept belongs to the account of the web nodes. A worker reaches of it what is exported to the workers: their
consumers, and the leader that waits for their words. What it asks for comes back into the workers' account, whatever
address it names.

`python -m server.cluster.broker --workers 3` prints it with the passwords left to environment variables.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from server.cluster import subjects
from server.cluster.subjects import POOLS, Pool

WEB = "web"
"""User of all web nodes."""
MAX_PAYLOAD = 1024 * 1024
"""Most bytes of one message; results go in smaller pieces."""


@dataclass(frozen=True)
class WorkerUser:
    """A worker node as the broker knows it."""

    name: str
    password: str
    """The password, or a reference to an environment variable of the broker, such as `$WORKER_1_PASSWORD`."""
    pools: tuple[Pool, ...] = POOLS
    """Pools it may take runs from."""


@dataclass(frozen=True)
class Tls:
    """Files of the broker's certificate."""

    certificate: Path
    key: Path


def configuration(
    web_password: str, workers: Iterable[WorkerUser], *, listen: str, store: Path, tls: Tls | None = None
) -> str:
    """The text of a nats-server's configuration file."""
    users = "".join(_worker(worker) for worker in workers)
    return f"""\
server_name: gradgraph
listen: {json.dumps(listen)}
max_payload: {MAX_PAYLOAD}
ping_interval: "2s"
ping_max: 2
jetstream {{ store_dir: {json.dumps(str(store))} }}
{_tls(tls) if tls else ""}accounts {{
  WEB {{
    jetstream: enabled
    users: [
{_user(WEB, web_password, _WEB_PUBLISHES, _WEB_HEARS, answers=True)}    ]
    exports: [
{"".join(map(_export, _FOR_WORKERS))}    ]
  }}
  WORKERS {{
    users: [
{users}    ]
    imports: [
{"".join(map(_import, _FOR_WORKERS))}    ]
  }}
}}
"""


_FOR_WORKERS = (
    *(("service", subjects.next_run(pool)) for pool in POOLS),
    *(("service", subjects.taken(pool)) for pool in POOLS),
    ("service", subjects.said("*")),
    ("service", subjects.beats("*")),
    ("stream", subjects.orders("*")),
    ("stream", subjects.CALL),
)
"""What passes between the accounts: services are spoken to by workers, streams are heard by them."""


def _export(way: tuple[str, str]) -> str:
    kind, subject = way
    return f"      {{{kind}: {json.dumps(subject)}, accounts: [WORKERS]}}\n"


def _import(way: tuple[str, str]) -> str:
    kind, subject = way
    return f"      {{{kind}: {{account: WEB, subject: {json.dumps(subject)}}}}}\n"


_WEB_PUBLISHES = (
    *map(subjects.runs, POOLS),
    subjects.orders("*"),
    subjects.told("*"),
    subjects.ASK,
    subjects.LEADER,
    subjects.CALL,
    "$JS.API.>",
    subjects.leader_values(),
    subjects.room_values(),
    subjects.room_flow(),
)
_WEB_HEARS = (
    subjects.said("*"),
    subjects.beats("*"),
    subjects.told("*"),
    subjects.ASK,
    subjects.LEADER,
    f"{subjects.inbox(WEB)}.>",
)


def _worker(worker: WorkerUser) -> str:
    publishes = (
        *map(subjects.next_run, worker.pools),
        *map(subjects.taken, worker.pools),
        subjects.said("*"),
        subjects.beats(worker.name),
    )
    hears = (subjects.orders(worker.name), subjects.CALL, f"{subjects.inbox(worker.name)}.>")
    return _user(worker.name, worker.password, publishes, hears, answers=False)


def _user(name: str, password: str, publishes: Iterable[str], hears: Iterable[str], *, answers: bool) -> str:
    secret = password if password.startswith("$") else json.dumps(password)
    responses = '\n          allow_responses: {max: 1, expires: "10s"}' if answers else ""
    return f"""\
      {{
        user: {json.dumps(name)}
        password: {secret}
        permissions: {{
          publish: {{allow: {json.dumps([*publishes])}}}
          subscribe: {{allow: {json.dumps([*hears])}}}{responses}
        }}
      }}
"""


def _tls(tls: Tls) -> str:
    """Nothing is said before it, so that nobody between can leave it out."""
    files = f"cert_file: {json.dumps(str(tls.certificate))}, key_file: {json.dumps(str(tls.key))}"
    return f"tls {{ {files}, handshake_first: true }}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a configuration for an operator's own broker."""
    parser = argparse.ArgumentParser(
        prog="python -m server.cluster.broker", description="A nats-server's configuration."
    )
    parser.add_argument("--workers", type=int, default=2, help="worker nodes that take runs on the CPU")
    parser.add_argument("--cuda-workers", type=int, default=0, help="worker nodes with GPUs")
    parser.add_argument("--listen", default="0.0.0.0:4222", help="address and port the broker listens on")
    parser.add_argument("--store", type=Path, default=Path("/data"), help="folder of the broker's files")
    parser.add_argument("--certificate", type=Path, help="file of the broker's TLS certificate")
    parser.add_argument("--key", type=Path, help="file of its key")
    options = parser.parse_args(arguments)
    if (options.certificate is None) != (options.key is None):
        parser.error("a certificate needs its key: give both --certificate and --key")
    tls = Tls(options.certificate, options.key) if options.certificate else None
    workers = [*_named("worker", options.workers, "cpu"), *_named("cuda-worker", options.cuda_workers, "cuda")]
    sys.stdout.write(configuration("$WEB_PASSWORD", workers, listen=options.listen, store=options.store, tls=tls))
    return 0


def _named(kind: str, count: int, pool: Pool) -> list[WorkerUser]:
    """`worker-1` with the password in `$WORKER_1_PASSWORD`, and so on."""
    names = [f"{kind}-{number}" for number in range(1, count + 1)]
    return [WorkerUser(name, f"${name.upper().replace('-', '_')}_PASSWORD", (pool,)) for name in names]


if __name__ == "__main__":
    sys.exit(main())
