"""The profile is what the attacks leave standing, not what was switched on."""

import msgspec
import pytest

from engine.sandbox.canary import Report, judge

ALL = ("rlimits", "mount", "net", "ipc", "uid", "no_new_privs", "landlock", "seccomp")
CONTAINER = ("rlimits", "no_new_privs", "landlock", "seccomp")
REPELLED = Report(**dict.fromkeys(Report.__struct_fields__, False))


def test_all_layers_are_full() -> None:
    assert judge(REPELLED, ALL, wrote_outside=False, outer=None).profile == "full"
    assert judge(REPELLED, ALL, wrote_outside=False, outer=None).layers == ALL


def test_a_container_has_no_namespaces_of_its_own() -> None:
    report = msgspec.structs.replace(REPELLED, home_has_no_quota=True)
    assert judge(report, CONTAINER, wrote_outside=False, outer=None).profile == "container"


@pytest.mark.parametrize("attack", ["changed_mode", "connected", "forked", "executed", "signalled"])
def test_one_success_against_seccomp_is_partial(attack: str) -> None:
    isolation = judge(msgspec.structs.replace(REPELLED, **{attack: True}), ALL, wrote_outside=False, outer=None)
    assert isolation.profile == "partial"
    assert "seccomp" not in isolation.layers


@pytest.mark.parametrize("attack", ["read_readable", "read_secret", "read_environment"])
def test_one_success_against_landlock_is_partial(attack: str) -> None:
    isolation = judge(msgspec.structs.replace(REPELLED, **{attack: True}), ALL, wrote_outside=False, outer=None)
    assert isolation.profile == "partial"
    assert "landlock" not in isolation.layers


def test_the_server_sees_what_was_written() -> None:
    assert judge(REPELLED, ALL, wrote_outside=True, outer=None).profile == "partial"


def test_gvisor_stands_in_for_landlock_when_the_operator_says_so() -> None:
    layers = ("rlimits", "no_new_privs", "seccomp")
    assert judge(REPELLED, layers, wrote_outside=False, outer="gvisor").profile == "gvisor"
    assert judge(REPELLED, layers, wrote_outside=False, outer=None).profile == "partial"


def test_nothing_is_none() -> None:
    assert judge(REPELLED, ("rlimits",), wrote_outside=False, outer=None).profile == "none"
