from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.tools.shell import groups
from agentsh.tools.shell.sandbox import Sandbox, open_sandbox

PATH = os.environ.get("PATH", "")


def works() -> bool:
    probe = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    if shutil.which("bwrap") is None:
        return False
    return subprocess.run([*probe, "true"], capture_output=True, check=False).returncode == 0


needs_bwrap = pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or cannot run")


class Yard(Struct):
    """A project with agentsh's own folder inside, and one beside it."""

    project: Path
    state: Path
    outside: Path

    def run(self, command: str, *, network: bool = False, state: Path | None = None) -> str:
        sandbox = open_sandbox(
            {"PATH": PATH}, self.project, (state or self.state,), network=network
        )
        done = subprocess.run(
            sandbox(["bash", "-c", command]),
            env={"PATH": PATH, "SSH_AUTH_SOCK": "/run/agent"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            text=True,
        )
        return f"{done.stdout}[{done.returncode}]"


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    project, outside = tmp_path / "project", tmp_path / "outside"
    state = project / "state"
    for folder in (state, outside):
        folder.mkdir(parents=True)
    (state / "s.jsonl").write_text("secret\n")
    (outside / "f").write_text("x\n")
    return Yard(project, state, outside)


@needs_bwrap
def test_the_project_and_a_private_tmp_are_writable_and_nothing_else(yard: Yard) -> None:
    stray = Path("/var/tmp/agentsh-sandbox-test")
    text = yard.run(
        f"echo in > inside; echo t > /tmp/agentsh-t && cat /tmp/agentsh-t; echo x > {stray};"
        f"echo x > {yard.outside}/planted; echo x > /etc/agentsh-x; exit 3"
    )

    assert (yard.project / "inside").read_text() == "in\n"
    assert "t\n" in text
    assert text.endswith("[3]")
    assert [p.name for p in yard.outside.iterdir()] == ["f"]
    for path in (stray, Path("/tmp/agentsh-t"), Path("/etc/agentsh-x")):
        assert not path.exists()


@needs_bwrap
@pytest.mark.parametrize("place", ["inside", "beside", "above"])
def test_the_folder_of_agentsh_is_hidden_and_read_only(yard: Yard, place: str) -> None:
    state = {"inside": yard.state, "beside": yard.outside, "above": yard.project.parent}[place]
    text = yard.run(
        f"find {state} -type f -not -path '{yard.project}/*'; cat {state}/s.jsonl {state}/f;"
        f"echo x > {state}/planted; echo x > {yard.project}/own && echo over",
        state=state,
    )

    assert "secret" not in text
    assert "x\n" not in text
    assert "over" in text
    assert not (state / "planted").exists()
    assert (yard.project / "own").exists()


@needs_bwrap
def test_there_is_no_network_unless_it_is_allowed(yard: Yard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        probe = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo open || echo shut"

        assert yard.run(probe) == "shut\n[0]"
        assert yard.run(probe, network=True) == "open\n[0]"


@needs_bwrap
def test_no_other_process_and_no_agent_of_the_user_is_seen(yard: Yard) -> None:
    text = yard.run(
        f"ls -d /proc/{os.getpid()} 2>/dev/null; cat /proc/[0-9]*/environ | tr '\\0' '\\n' |"
        " grep -c AGENTSH_SECRET; echo [$SSH_AUTH_SOCK]; ls /run | grep -v -e systemd -e resolv"
    )

    assert text.split("\n")[:2] == ["0", "[]"]


@needs_bwrap
def test_the_kernels_settings_cannot_be_changed_even_by_root(yard: Yard) -> None:
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    # the same value again: a failure of this test must not change the machine
    text = yard.run(f"printf '%s' '{before.strip()}' > /proc/sys/kernel/core_pattern; echo $?")

    assert text.split("\n")[-2] == "1"


@needs_bwrap
def test_a_mount_cannot_be_made_writable_again(yard: Yard) -> None:
    text = yard.run("mount -o remount,rw / 2>/dev/null; mount -t tmpfs x /etc 2>/dev/null; echo $?")

    assert text.split("\n")[-2] != "0"


@needs_bwrap
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_it_works_for_a_plain_user_too(
    yard: Yard, tmp_path_factory: pytest.TempPathFactory
) -> None:
    of_tests = tmp_path_factory.getbasetemp().parent
    for folder in (yard.project, *yard.project.parents):
        if folder.is_relative_to(of_tests):
            folder.chmod(0o755)
    os.chown(yard.project, 65534, 65534)
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    sandbox = Sandbox(bwrap, yard.project, (yard.state,))
    done = subprocess.run(
        sandbox(["bash", "-c", "id -u; echo in > inside && cat state/* ; exit 4"]),
        user=65534,
        group=65534,
        env={"PATH": PATH},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 4, done.stderr
    assert done.stdout == b"65534\n"
    assert (yard.project / "inside").exists()


def test_without_bubblewrap_it_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="bubblewrap"):
        open_sandbox({"PATH": str(tmp_path)}, tmp_path, ())
    with pytest.raises(UsageError, match="bubblewrap"):
        open_sandbox({}, tmp_path, ())


def test_a_bwrap_of_the_project_is_not_used(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)

    with pytest.raises(UsageError, match="not on PATH"):
        open_sandbox({"PATH": f"{tmp_path}:."}, tmp_path, ())


def test_a_bwrap_that_cannot_run_here_is_wrong_use_with_its_words(tmp_path: Path) -> None:
    program = tmp_path / "bin/bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()

    with pytest.raises(UsageError, match="No permissions"):
        open_sandbox({"PATH": str(program.parent)}, project, ())


@needs_bwrap
@pytest.mark.parametrize("place", ["in the project", "outside"])
def test_no_socket_of_outside_can_be_spoken_to(yard: Yard, place: str) -> None:
    with TemporaryDirectory(dir="/var/tmp") as other:  # /tmp is covered as a whole
        folder = yard.project if place == "in the project" else Path(other)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "s"))
            server.listen()
            connect = f"import socket; socket.socket(socket.AF_UNIX).connect('{folder}/s')"
            text = yard.run(f'python3 -c "{connect}" 2>&1 | tail -1')

    assert "Error" in text
    assert "No such file" not in text


@needs_bwrap
def test_sockets_of_commands_inside_work(yard: Yard) -> None:
    talk = (
        "import socket; a = socket.socket(socket.AF_UNIX); a.bind('own'); a.listen();"
        "b = socket.socket(socket.AF_UNIX); b.connect('own'); print('spoke')"
    )

    assert yard.run(f'python3 -c "{talk}"') == "spoke\n[0]"


@needs_bwrap
def test_what_agentsh_takes_orders_from_is_read_only_in_the_project(yard: Yard) -> None:
    (yard.project / ".agentsh").mkdir()
    (yard.project / ".agentsh/config.toml").write_text("mine\n")
    (yard.project / ".env").write_text("mine\n")
    kept = (yard.project / ".agentsh", yard.project / ".env", yard.project / "none")
    sandbox = open_sandbox({"PATH": PATH}, yard.project, (yard.state,), kept=kept)
    words = (
        "cd $0; echo x > .env; echo x > .agentsh/config.toml; echo x > .agentsh/new; mv .env y;"
        "rm -rf .agentsh; echo x > other"
    )
    argv = sandbox(["bash", "-c", words, str(yard.project)])
    subprocess.run(argv, capture_output=True, check=False)

    assert (yard.project / ".env").read_text() == "mine\n"
    assert [p.name for p in (yard.project / ".agentsh").iterdir()] == ["config.toml"]
    assert (yard.project / ".agentsh/config.toml").read_text() == "mine\n"
    assert (yard.project / "other").exists()


@needs_bwrap
def test_a_folder_that_leads_to_what_is_kept_or_hidden_is_not_exchanged(yard: Yard) -> None:
    state, order = yard.project / "deep/er/state", yard.project / "deep/scripts/hook.sh"
    for folder in (state, order.parent):
        folder.mkdir(parents=True)
    (state / "config.toml").write_text("mine\n")
    order.write_text("mine\n")
    sandbox = open_sandbox({"PATH": PATH}, yard.project, (state,), kept=(order,))
    words = (
        "cd $0; mv deep/er x; mv deep/scripts y; mv deep z; mkdir -p deep/er/state deep/scripts;"
        "echo x > deep/er/state/config.toml; echo x > deep/scripts/hook.sh; echo x > deep/new"
    )
    argv = sandbox(["bash", "-c", words, str(yard.project)])
    subprocess.run(argv, capture_output=True, check=False)

    assert (state / "config.toml").read_text() == "mine\n"
    assert order.read_text() == "mine\n"
    assert (yard.project / "deep/new").exists()


@needs_bwrap
def test_the_sandboxs_own_last_process_is_no_work_left_but_what_runs_in_it_is(yard: Yard) -> None:
    sandbox = open_sandbox({"PATH": PATH}, yard.project, (yard.state,))
    popen = subprocess.Popen(
        sandbox(["bash", "-c", "sleep 30 > /dev/null 2>&1 & exit"]), start_new_session=True
    )
    try:
        assert popen.wait() == 0
        assert groups.with_members([popen.pid]) == {popen.pid}
        rows = [row for row in groups.table() if row.session == popen.pid]
        workers = [row for row in rows if row.pid not in {other.parent for other in rows}]
        assert groups.send_to([row.pid for row in workers], signal.SIGSTOP)
        assert groups.with_members([popen.pid]) == {popen.pid}
    finally:
        groups.send((popen.pid,), None, signal.SIGKILL)
