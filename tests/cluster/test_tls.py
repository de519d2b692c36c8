"""Nodes, broker and store with certificates and tokens: none is believed that should not be, and why is said."""

import asyncio
import contextlib
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import URL

from server.cluster.broker import Tls
from server.cluster.connection import Connection
from server.local_runner import LocalRunner
from server.settings import BadSetting, Settings
from server.store import StoreDown
from server.store.sql_store import SqlStore
from tests.cluster.parts import Broker, Loop, asked, broker_in, events_of, leading, trace_of, until, working
from tests.server.postgres import cluster as postgres_server
from tests.server.stores import store_in, trace, use
from tools.cluster import pump

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

HAS_OPENSSL = shutil.which("openssl")
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")


@dataclass(frozen=True)
class Authority:
    """Whose certificates are believed, and one of them for this machine."""

    ca: str
    tls: Tls


def made(folder: Path) -> Authority:
    """An authority of one's own."""
    assert HAS_OPENSSL, "there is no openssl to make certificates with"
    ca, ca_key, one, key = (folder / name for name in ("ca.pem", "ca.key", "one.pem", "one.key"))
    _request(ca, ca_key, "/CN=authority", "-addext", "keyUsage=critical,keyCertSign")
    _request(one, key, "/CN=broker", "-CA", ca, "-CAkey", ca_key, "-addext", "subjectAltName=IP:127.0.0.1")
    return Authority(str(ca), Tls(one, key))


def _request(certificate: Path, key: Path, name: str, *more: str | Path) -> None:
    command = ["openssl", "req", "-x509", *_KEY, "-subj", name, "-keyout", key, "-out", certificate, *more]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return made(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def secret(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that speaks TLS alone."""
    with broker_in(tmp_path_factory.mktemp("secret"), authority.tls, authority.ca) as one:
        yield one


def test_a_run_passes_a_broker_with_a_certificate(secret: Broker, loop: Loop, local: LocalRunner) -> None:
    async def ran() -> str:
        async with leading(secret) as (runner, workers), working(secret, local):
            await until(lambda: workers.slots > 0)
            return trace_of(await events_of(runner, *asked("print('under TLS')"))).output[0].text

    assert loop.run(ran()) == "under TLS\n"


def said(url: str, ca: str, log: pytest.LogCaptureFixture, word: str) -> None:
    """Returns when a node that tries to connect has said why it cannot."""

    async def tries() -> None:
        opening = asyncio.create_task(Connection(url, ca).open())
        await until(lambda: word in log.text)
        assert not opening.done()
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)

    asyncio.run(tries())


def test_a_broker_of_another_authority_is_not_believed(
    secret: Broker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said(f"tls://web:web@127.0.0.1:{secret.port}", made(tmp_path).ca, caplog, "GRADGRAPH_RUNNER_CA names a file")


def test_a_broker_with_the_certificate_of_another_machine_is_not_believed(
    secret: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    said(f"tls://web:web@localhost:{secret.port}", secret.ca, caplog, "not valid for 'localhost'")


def test_no_password_is_told_to_who_does_not_begin_with_tls(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as between:
        between.setblocking(False)
        heard = bytearray()

        async def leaves_tls_out() -> None:
            loop = asyncio.get_running_loop()
            while True:
                one, _ = await loop.sock_accept(between)
                with one:
                    await loop.sock_sendall(one, b'INFO {"version": "2.15.1", "max_payload": 1048576}\r\n')
                    while data := await loop.sock_recv(one, 65536):
                        heard.extend(data)

        async def tries() -> None:
            listening = asyncio.create_task(leaves_tls_out())
            url = f"tls://web:a-secret@127.0.0.1:{between.getsockname()[1]}"
            opening = asyncio.create_task(Connection(url, authority.ca).open())
            await until(lambda: "does not answer with TLS" in caplog.text and bool(heard))
            for task in (listening, opening):
                task.cancel()
            await asyncio.gather(listening, opening, return_exceptions=True)

        asyncio.run(tries())
    assert b"a-secret" not in heard


@pytest.fixture(scope="module")
def by_token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """An operator's own broker, which knows no users."""
    with broker_in(tmp_path_factory.mktemp("by_token"), token="the-token-of-all") as one:
        yield one


def test_a_run_passes_a_broker_that_asks_for_a_token(
    by_token: Broker, loop: Loop, local: LocalRunner, caplog: pytest.LogCaptureFixture
) -> None:
    async def ran() -> tuple[str, set[str]]:
        async with leading(by_token) as (runner, workers), working(by_token, local), working(by_token, local):
            await until(lambda: workers.slots == 2 * local.capacity)
            names = {beat.worker for beat in workers}
            return trace_of(await events_of(runner, *asked("print('by token')"))).output[0].text, names

    text, names = loop.run(ran())
    assert (text, len(names)) == ("by token\n", 2)
    assert by_token.token not in caplog.text + "".join(names)


def test_a_wrong_token_is_refused(by_token: Broker, caplog: pytest.LogCaptureFixture) -> None:
    said(f"nats://another-token@127.0.0.1:{by_token.port}", "", caplog, "Authorization Violation")
    assert "another-token" not in caplog.text


def test_a_node_says_that_no_broker_is_there(caplog: pytest.LogCaptureFixture) -> None:
    said("nats://web:web@127.0.0.1:1", "", caplog, "Connect call failed")


def test_a_file_without_certificates_is_a_bad_setting(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("empty", "missing"):
        with pytest.raises(BadSetting, match="has no certificates"):
            Settings.from_environment({"GRADGRAPH_RUNNER_CA": str(tmp_path / name)})


@pytest.fixture(scope="module")
def kept(authority: Authority, loop: Loop) -> Iterator[URL]:
    """A PostgreSQL that speaks TLS alone; that of the wheel does not, so its part of it is done before it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(authority.tls.certificate, authority.tls.key)
    with postgres_server() as server:
        folder = server.url.query["host"]

        async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await reader.readexactly(8)  # whether there is TLS
                writer.write(b"S")
                await writer.start_tls(context)
                there, here = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
                await asyncio.gather(pump(reader, here), pump(there, writer))
            writer.close()

        listening = loop.run(asyncio.start_server(on_connection, "127.0.0.1", 0))
        yield server.url.set(host="127.0.0.1", port=listening.sockets[0].getsockname()[1], query={})
        listening.close()


def store_of(kept: URL, ca: str) -> SqlStore:
    """The store under a URL that asks for a certificate of this authority."""
    return store_in(kept.set(query={"sslmode": "verify-full", "sslrootcert": ca}).render_as_string())


def test_a_store_with_a_certificate_is_believed(kept: URL, authority: Authority) -> None:
    async def keep(store: SqlStore) -> None:
        await store.put("a", trace("a"))
        assert (await store.get("a")) is not None

    use(lambda: store_of(kept, authority.ca), keep)


def test_a_store_of_another_authority_is_not_believed(
    kept: URL, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def keep(store: SqlStore) -> None:
        with pytest.raises(StoreDown):
            await store.put("a", trace("a"))

    use(lambda: store_of(kept, made(tmp_path).ca), keep)
    assert "certificate verify failed" in caplog.text
