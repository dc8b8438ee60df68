"""An .ncu-rep file to reports: checks, then NVIDIA's library in a worker process, or the `ncu` command, or a
message.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import sparktrace_tui
from sparktrace_tui.domain.errors import BadInput, MissingTool
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.domain.report.serial import report_from_json
from sparktrace_tui.nsight.csv_reader import read_csv

MAGIC = b"NVR\0"
TIME_LIMIT_S = 60.0
INSTALL = "install NVIDIA's reader with: pip install 'sparktrace-tui[nsight]'"
AGAIN = "profile again, or copy the file again"


def is_ncu_rep(data: bytes) -> bool:
    """Whether a file begins like an .ncu-rep."""
    return data.startswith(MAGIC)


def read_ncu_rep(path: Path, *, time_limit_s: float = TIME_LIMIT_S) -> tuple[Report, ...]:
    """The reports of an .ncu-rep, one a kernel launch.

    Raises BadInput where the file is damaged, empty, or makes NVIDIA's library abort or hang; MissingTool
    where neither the library nor `ncu` is here.
    """
    if importlib.util.find_spec("ncu_report") is not None:
        reports = _by_worker(path, time_limit_s)
    elif ncu := shutil.which("ncu"):
        reports = _by_ncu(ncu, path, time_limit_s)
    else:
        raise MissingTool(
            f"{path.name}: reading an .ncu-rep needs NVIDIA's ncu_report or the ncu command", hint=INSTALL
        )
    if not reports:
        raise BadInput(f"{path.name}: holds no kernel: it is cut off, damaged, or nothing was profiled", hint=AGAIN)
    if all(not r.launch.kernel and not r.metrics for r in reports):
        raise BadInput(f"{path.name}: holds a kernel with neither a name nor a metric: it is cut off", hint=AGAIN)
    return reports


def _by_worker(path: Path, time_limit_s: float) -> tuple[Report, ...]:
    package = str(Path(sparktrace_tui.__file__).resolve().parent.parent)
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH", ""))))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sparktrace_tui.nsight.ncu_worker", str(path.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=time_limit_s,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            f"{path.name}: NVIDIA's reader did not finish within {time_limit_s:g} s: the file is damaged or very large",
            hint=AGAIN,
        ) from error
    if done.returncode != 0:
        raise BadInput(f"{path.name}: damaged: NVIDIA's reader stopped on it ({_ending(done.returncode)})", hint=AGAIN)
    try:
        document = json.loads(done.stdout)
    except ValueError as error:
        raise BadInput(f"{path.name}: NVIDIA's reader gave no complete answer", hint=AGAIN) from error
    if "error" in document:
        raise BadInput(f"{path.name}: NVIDIA's reader failed: {' '.join(document['error'].split())[:300]}", hint=AGAIN)
    return tuple(report_from_json(item, where=path.name) for item in document["reports"])


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _by_ncu(ncu: str, path: Path, time_limit_s: float) -> tuple[Report, ...]:
    """By `ncu --import`: every metric from the raw page, sections and rules from the details page."""
    raw = read_csv(_page(ncu, path, "raw", time_limit_s), path.name)
    details = read_csv(_page(ncu, path, "details", time_limit_s), path.name)
    origin = "ncu-rep"
    if len(raw) != len(details):
        return tuple(replace(r, origin=replace(r.origin, form=origin)) for r in raw or details)
    return tuple(
        replace(r, origin=replace(r.origin, form=origin), sections=d.sections, other=(*r.other, *d.other))
        for r, d in zip(raw, details, strict=True)
    )


def _page(ncu: str, path: Path, page: str, time_limit_s: float) -> str:
    try:
        done = subprocess.run(
            [ncu, "--import", str(path.resolve()), "--page", page, "--csv"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=time_limit_s,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"{path.name}: ncu --import did not finish within {time_limit_s:g} s", hint=AGAIN) from error
    except OSError as error:
        raise MissingTool(f"{ncu}: cannot be run ({error.strerror})", hint=INSTALL) from error
    return done.stdout.decode("utf-8", errors="replace")
