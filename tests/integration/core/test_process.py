"""Real processes: how they end, what is kept of them, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from harness.core.identity import ProcessIdentity, identify
from harness.core.process import Child, Finished, run, scrubbed_environment, start_detached
from harness.core.waiting import wait_until
from harness.errors import PrerequisiteError

ENV = scrubbed_environment({})


def _run(
    script: str, *, timeout_s: float = 20, grace_s: float = 15, limit: int = 10_000
) -> Finished:
    return run(
        ["bash", "-c", script],
        env=ENV,
        timeout_s=timeout_s,
        interrupt_grace_s=grace_s,
        limit_bytes=limit,
    )


def _identity(pid_path: Path) -> ProcessIdentity:
    """Return the process whose pid a script has written, once it has."""
    wait_until(
        lambda: pid_path.read_text().strip() if pid_path.exists() else "",
        bool,
        what=f"pid in {pid_path.name}",
        timeout_s=10,
    )
    found = identify(int(pid_path.read_text()))
    assert found is not None
    return found


def _gone(process: ProcessIdentity, *, within_s: float) -> None:
    wait_until(
        lambda: process.alive,
        lambda alive: not alive,
        what=f"end of process {process.pid}",
        timeout_s=within_s,
    )


@pytest.mark.parametrize("code", [0, 3, 255])
def test_a_command_that_exits_has_its_own_code_and_both_streams(code: int) -> None:
    found = _run(f"echo out; echo err >&2; exit {code}")

    assert (found.returncode, found.stdout, found.stderr) == (code, "out\n", "err\n")
    assert (found.timed_out, found.survivors) == (False, 0)
    assert found.argv[0] == "bash"
    assert 0 < found.duration_s < 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_command_that_a_signal_ends_has_minus_its_number(number: int) -> None:
    assert _run(f"kill -{int(number)} $$").returncode == -number


def test_a_command_that_overruns_is_interrupted_once_and_may_end_by_itself() -> None:
    script = "trap 'echo interrupted; exit 7' INT; echo up; while :; do read -t 0.05 <> <(:); done"

    found = _run(script, timeout_s=1)

    assert (found.timed_out, found.returncode) == (True, 7)
    assert found.stdout == "up\ninterrupted\n"


def test_a_command_that_ignores_its_interrupt_is_ended_after_the_grace() -> None:
    script = "trap 'echo again' INT; trap '' TERM; while :; do read -t 0.05 <> <(:); done"

    found = _run(script, timeout_s=0.7, grace_s=0.5)

    assert (found.timed_out, found.returncode) == (True, -signal.SIGKILL)
    assert found.stdout == "again\n"
    assert found.duration_s < 6


def test_what_left_its_session_is_counted_and_ended(tmp_path: Path) -> None:
    path = tmp_path / "pid"

    found = _run(f"setsid sleep 300 & echo $! > {path}; sleep 300 & echo done")

    assert (found.returncode, found.stdout, found.survivors) == (0, "done\n", 2)
    assert identify(int(path.read_text())) is None


def test_a_daemon_that_forked_twice_and_holds_the_pipe_does_not_hang_the_caller(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pid"

    found = _run(f"( ( trap '' TERM INT HUP; echo $BASHPID > {path}; exec sleep 300 ) & ) ; exit 4")

    assert found.returncode == 4
    assert found.duration_s < 5
    assert not path.exists() or identify(int(path.read_text())) is None


def test_output_is_cut_at_its_limit_and_says_so() -> None:
    found = _run("printf '%s\\n' aaaa bbbb cccc", limit=7)

    assert found.stdout == "aaaa\nbb\n[cut: more than 7 bytes]\n"


def test_output_of_just_the_limit_is_whole_and_has_no_mark() -> None:
    assert _run("printf 12345", limit=5).stdout == "12345"
    assert _run("printf '123\\n4'", limit=4).stdout == "123\n\n[cut: more than 4 bytes]\n"


def test_100_mb_without_a_newline_do_not_stop_the_command() -> None:
    found = _run("head -c 100000000 /dev/zero | tr '\\0' x; echo; exit 5", limit=10)

    assert found.returncode == 5
    assert found.stdout == "xxxxxxxxxx\n[cut: more than 10 bytes]\n"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert _run("printf 'a\\377b'").stdout == "a\ufffdb"


def test_both_streams_can_go_to_one_file_in_the_order_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("before\n")

    found = run(
        ["bash", "-c", "echo one; exit 1"],
        env=ENV,
        timeout_s=10,
        stdout_path=path,
        stderr_path=path,
    )

    assert (found.returncode, found.stdout) == (1, "")
    assert path.read_text() == "before\none\n"


def test_each_line_is_handed_on_without_its_end() -> None:
    lines: list[str] = []

    run(["printf", r"one\ntwo\n\nlast"], env=ENV, timeout_s=10, on_line=lines.append)

    assert lines == ["one", "two", "", "last"]


def test_input_is_fed_and_ended() -> None:
    found = run(["cat"], env=ENV, timeout_s=10, stdin=b"x" * 200_000)

    assert found.stdout == "x" * 200_000


def test_without_input_a_command_sees_the_end_at_once() -> None:
    assert run(["cat"], env=ENV, timeout_s=10).returncode == 0


def test_a_command_that_does_not_read_its_input_is_no_error() -> None:
    assert run(["true"], env=ENV, timeout_s=10, stdin=b"x" * 1_000_000).returncode == 0


def test_an_input_kept_open_takes_what_is_written_until_it_is_closed() -> None:
    lines: list[str] = []
    with Child(["cat"], env=ENV, stdin_open=True, on_line=lines.append) as child:
        assert child.write_stdin(b"one\n")
        wait_until(lambda: list(lines), lambda seen: seen == ["one"], what="echo", timeout_s=10)
        assert child.running

        child.close_stdin()

        assert child.wait(10)
        assert not child.write_stdin(b"two\n")
        assert child.finished(timed_out=False).returncode == 0


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("no-such-program-of-ours", "No such file or directory"),
        ("/etc/passwd", "Permission denied"),
    ],
)
def test_a_program_that_cannot_be_run_is_a_missing_prerequisite(program: str, said: str) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run([program], env=ENV, timeout_s=10)

    assert str(caught.value) == f"cannot run {program!r}: {said}"
    assert caught.value.exit_code == 4


def test_a_command_is_looked_for_on_the_path_that_it_is_given(tmp_path: Path) -> None:
    tool = tmp_path / "mine"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)

    found = run(["mine"], env={"PATH": f"{tmp_path}:/bin:/usr/bin"}, timeout_s=10)

    assert found.stdout == "found\n"


def test_a_command_sees_the_environment_that_it_is_given_and_no_other() -> None:
    found = run(["/usr/bin/env"], env={"ONLY": "this"}, timeout_s=10)

    assert found.stdout == "ONLY=this\n"


def test_a_pipeline_whose_reader_goes_ends_in_silence() -> None:
    found = _run("yes | head -1")

    assert (found.stdout, found.stderr) == ("y\n", "")


def test_a_command_can_be_interrupted_where_the_caller_ignores_interrupts() -> None:
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_DFL)\n"
        "from harness.core.process import run\n"
        "found = run(['sleep', '60'], env={'PATH': '/bin:/usr/bin'}, timeout_s=0.3)\n"
        "print(found.returncode, found.timed_out, found.duration_s < 5)\n"
    )

    found = run([sys.executable, "-c", code], env=ENV, timeout_s=30, cwd=Path.cwd())

    assert (found.stderr, found.stdout) == ("", f"{-signal.SIGINT} True True\n")


def test_leaving_the_block_ends_the_whole_tree(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    with Child(["bash", "-c", f"setsid sleep 300 & echo $! > {path}; wait"], env=ENV) as child:
        below = _identity(path)
        assert child.running

    assert not child.running
    assert not below.alive


def test_ending_at_once_gives_no_grace_and_may_be_done_again(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    script = f"trap '' TERM INT; echo $$ > {path}; while :; do read -t 0.05 <> <(:); done"
    with Child(["bash", "-c", script], env=ENV) as child:
        _identity(path)

        found = child.end(at_once=True)

        assert found.returncode == -signal.SIGKILL
        assert found.duration_s < 3
        assert child.end().returncode == -signal.SIGKILL


def test_a_crash_ends_the_command_and_what_it_left_is_a_survivor(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    with Child(["bash", "-c", f"sleep 300 & echo $! > {path}; wait"], env=ENV) as child:
        below = _identity(path)

        child.crash()

        assert child.wait(5)
        assert child.finished(timed_out=False).survivors == 1
        assert child.finished(timed_out=False).returncode == -signal.SIGKILL
        assert not below.alive


def _state(process: ProcessIdentity) -> str:
    """Return the state of a process as the kernel names it: T for one that is frozen."""
    fields = Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()
    return fields[0].decode()


def _await_state(process: ProcessIdentity, expected: str) -> None:
    wait_until(lambda: _state(process), lambda seen: seen == expected, what="a state", timeout_s=10)


def test_a_frozen_command_does_nothing_until_it_is_thawed(tmp_path: Path) -> None:
    script = f"trap 'exit 7' CONT; echo $$ > {tmp_path / 'pid'}; while :; do read -t 60; done"

    with Child(["bash", "-c", script], env=ENV, stdin_open=True) as child:
        command = _identity(tmp_path / "pid")
        child.freeze()
        _await_state(command, "T")
        frozen = child.running
        child.thaw()
        child.close_stdin()
        assert child.wait(10)
        found = child.finished(timed_out=False)

    assert frozen
    assert found.returncode == 7


def test_a_frozen_command_can_be_ended(tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path / 'pid'}; sleep 600"

    with Child(["bash", "-c", script], env=ENV) as child:
        command = _identity(tmp_path / "pid")
        child.freeze()
        _await_state(command, "T")

        child.end(at_once=True)

        _gone(command, within_s=1)


def test_a_killed_leash_takes_its_command_with_it(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    with Child(["bash", "-c", f"echo $$ > {path}; exec sleep 300"], env=ENV) as child:
        command = _identity(path)

        os.kill(child.pid, signal.SIGKILL)

        _gone(command, within_s=5)
        assert child.finished(timed_out=False).returncode == -signal.SIGKILL


def test_nothing_outlives_a_harness_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = (
        f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n"
        "from harness.core.process import run\n"
        f"run(['bash', '-c', 'setsid sleep 300 & echo $! > {path}; wait'],"
        " env={'PATH': '/bin:/usr/bin'}, timeout_s=300)\n"
    )
    # Not a Child of ours: its leash would end everything, whether the harness's own does or not.
    harness = start_detached([sys.executable, "-c", code], env=ENV, log_path=tmp_path / "log")
    below = _identity(path)

    os.kill(harness, signal.SIGKILL)
    os.waitpid(harness, 0)

    try:
        _gone(below, within_s=5)
    finally:
        below.signal(signal.SIGKILL)


def test_a_process_is_told_from_a_later_one_with_the_same_pid() -> None:
    me = identify(os.getpid())
    assert me is not None
    earlier = ProcessIdentity(pid=me.pid, started_ticks=me.started_ticks - 1)

    earlier.signal(signal.SIGKILL)

    assert me.alive
    assert not earlier.alive
    assert identify(os.getpid()) == me


def test_a_process_that_is_gone_has_no_identity(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    _run(f"echo $$ > {path}")
    gone = ProcessIdentity(pid=int(path.read_text()), started_ticks=1)

    gone.signal(signal.SIGKILL)

    assert identify(gone.pid) is None
    assert not gone.alive


def test_a_zombie_has_no_identity(tmp_path: Path) -> None:
    path = tmp_path / "log"

    pid = start_detached(["/bin/true"], env=ENV, log_path=path)

    try:
        wait_until(lambda: identify(pid), lambda found: found is None, what="end", timeout_s=10)
        assert Path(f"/proc/{pid}").exists()
    finally:
        os.waitpid(pid, 0)


def test_a_detached_process_has_a_session_of_its_own_and_writes_its_log(tmp_path: Path) -> None:
    path = tmp_path / "log"

    pid = start_detached(
        ["/bin/bash", "-c", "echo out; echo err >&2; sleep 300"], env=ENV, log_path=path
    )

    try:
        wait_until(
            path.read_text, lambda text: text == "out\nerr\n", what="both lines", timeout_s=10
        )
        assert os.getsid(pid) == pid
    finally:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_what_a_command_leaves_running_lives_on_where_it_is_to_be_kept(tmp_path: Path) -> None:
    script = f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path / 'pid'}"

    found = run(["bash", "-c", script], env=ENV, timeout_s=20, keep_survivors=True)

    left = _identity(tmp_path / "pid")
    assert (found.returncode, found.survivors) == (0, 0)
    assert left.alive
    left.signal(signal.SIGKILL)
    _gone(left, within_s=5)


def test_what_is_to_be_kept_is_ended_when_its_command_had_to_be(tmp_path: Path) -> None:
    script = f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path / 'pid'}; wait"

    with Child(["bash", "-c", script], env=ENV, keep_survivors=True) as child:
        left = _identity(tmp_path / "pid")
        child.end()

    assert not left.alive
