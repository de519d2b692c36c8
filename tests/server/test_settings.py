"""Settings: read from the environment once, refused in words."""

from pathlib import Path

import pytest

from server.settings import BadSetting, Settings


def test_without_variables_the_defaults_hold() -> None:
    assert Settings.from_environment({"PATH": "/bin"}) == Settings()


def test_every_kind_of_option_is_read() -> None:
    read = Settings.from_environment(
        {
            "GRADGRAPH_HOST": "0.0.0.0",
            "GRADGRAPH_PORT": "80",
            "GRADGRAPH_WALL_S": "2.5",
            "GRADGRAPH_DATA_DIR": "/data",
            "GRADGRAPH_STORE": "postgresql://u:p@host/name",
            "GRADGRAPH_ALLOW_WEAK_ISOLATION": "1",
            "GRADGRAPH_WARM_GALLERY": "false",
        }
    )
    assert read == Settings(
        host="0.0.0.0",
        port=80,
        wall_s=2.5,
        data_dir=Path("/data"),
        store="postgresql://u:p@host/name",
        allow_weak_isolation=True,
        warm_gallery=False,
    )
    assert read.limits.wall_s == 2.5


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("GRADGRAPH_PORT", "http", "not a whole number"),
        ("GRADGRAPH_WALL_S", "-1", "below 0"),
        ("GRADGRAPH_WALL_S", "nan", "below 0"),
        ("GRADGRAPH_WARM_GALLERY", "maybe", "not a 0 or 1"),
        ("GRADGRAPH_PROT", "80", "no such option"),
        ("GRADGRAPH_EMBED_EDIT", "https://a.example https://b.example/course", "is no origin"),
        ("GRADGRAPH_EMBED_EDIT", "'self'; script-src *", "is no origin"),
        ("GRADGRAPH_RUNNER", "http://web:secret@host", "names no broker"),
        ("GRADGRAPH_RUNNER", "nats://host:4222", "names no broker"),
        ("GRADGRAPH_STORE", "mysql://host/name", "names no PostgreSQL"),
        ("GRADGRAPH_STORE", "/data/gradgraph.sqlite3", "names no PostgreSQL"),
        ("GRADGRAPH_STORE", "postgresql://u:secret@host:port/name", "names no PostgreSQL"),
    ],
)
def test_a_bad_variable_is_named(name: str, text: str, words: str) -> None:
    with pytest.raises(BadSetting, match=words) as refused:
        Settings.from_environment({name: text})
    assert name in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False)]
)
def test_local_means_no_other_machine(host: str, local: bool) -> None:
    assert Settings(host=host).is_local is local


def test_no_node_of_a_cluster_knows_who_asks() -> None:
    assert not Settings(host="127.0.0.1", runner="nats://worker-1:secret@127.0.0.1:4222").is_local
