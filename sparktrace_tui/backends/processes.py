"""Child processes with a time limit, and the end of everything that a process started."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """A finished child: its exit status (negative for a signal), all it printed, and whether the limit ended it."""

    status: int
    output: str
    timed_out: bool = False


def python_path() -> str:
    """Where this process finds modules, as a PYTHONPATH for another: without the standard library, which a Python of
    another version that sees it would trip over.
    """
    paths = sysconfig.get_paths()
    standard = {os.path.dirname(os.__file__), paths["stdlib"], paths["platstdlib"]}
    standard |= {os.path.join(path, "lib-dynload") for path in standard}
    return os.pathsep.join(p for p in sys.path if p and p not in standard and not p.endswith(".zip"))


def run_limited(command: Sequence[str], limit_s: float, env: Mapping[str, str] | None = None) -> Done:
    """Run a command to its end or the limit; then its whole process group is killed. OSError where it cannot start."""
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        process_group=0,
        env=None if env is None else dict(env),
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
        return Done(process.returncode, output)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        output, _ = process.communicate()
        return Done(process.returncode, output, timed_out=True)
    except BaseException:
        kill_group(process.pid)
        raise


def kill_group(pid: int) -> None:
    """Kill the process group that `pid` leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_session(leader: int) -> None:
    """Kill every process of the session that `leader` began: its own group, and the groups of its children.

    Where there is no /proc, its own group only. The calling process is left.
    """
    if os.getpgid(0) != leader:
        kill_group(leader)
    for pid in session_members(leader):
        if pid == os.getpid():
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def session_members(leader: int, proc: Path = Path("/proc")) -> list[int]:
    """The processes of a session, by /proc."""
    found = []
    for stat in proc.glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()  # the name before may hold anything
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def start_watchdog() -> None:
    """Fork a process that ends this one's session when the process that holds our stdin is gone.

    A thread could not: a native call that hangs may hold the interpreter. Only for the leader of a session; the
    watchdog ends with this process.
    """
    worker, client = os.getpid(), os.getppid()
    if os.getsid(0) != worker or os.fork():
        return
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(1)  # a reader of the worker's output waits for every copy to close
        os.close(2)
        hung_up = select.poll()
        hung_up.register(0, 0)
        while os.getppid() == worker:
            if hung_up.poll(200) and _parent_of(worker) not in (client, None):
                kill_session(worker)
                break
            if hung_up.poll(0):
                select.select([], [], [], 0.1)  # a client that closed the pipe and lives: look again in a moment
    finally:
        os._exit(0)


def _parent_of(pid: int) -> int | None:
    """None where there is no /proc to ask."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
