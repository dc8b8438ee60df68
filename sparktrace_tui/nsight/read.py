"""Any report file to reports: what it is is told from its bytes, never from its name."""

import gzip
import re
import zlib
from pathlib import Path

from sparktrace_tui.domain.errors import BadInput, CannotReadOrWrite
from sparktrace_tui.domain.report.report import Report
from sparktrace_tui.nsight.csv_lines import form_of
from sparktrace_tui.nsight.csv_reader import read_csv
from sparktrace_tui.nsight.decode import decode
from sparktrace_tui.nsight.ncu_rep import TIME_LIMIT_S, is_ncu_rep, read_ncu_rep
from sparktrace_tui.nsight.text_reader import read_text

LARGEST_TEXT = 256 << 20
EXPECTED = "expected: an .ncu-rep, or the CSV or text that ncu prints"
_LFS = b"version https://git-lfs"
_GZIP = b"\x1f\x8b"
_LONE = re.compile("[\ud800-\udfff]")  # bytes that are no UTF-8
_PERMISSION_HINT = (
    "run ncu as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 "
    "(check RmProfilingAdminOnly in /proc/driver/nvidia/params)"
)


def read_reports(path: Path | str, *, time_limit_s: float = TIME_LIMIT_S) -> tuple[Report, ...]:
    """The reports of a file, at least one, in the order of their launches.

    Forms: .ncu-rep, CSV (raw, details, long-form metrics, source), text (details, raw, summary). Raises
    BadInput with one clear line where the file holds no report, CannotReadOrWrite where it cannot be
    read, MissingTool where an .ncu-rep needs a reader that is not here.
    """
    path = Path(path)
    data = read_bytes(path)
    _refuse_wrappers(path, data)
    if is_ncu_rep(data):
        return read_ncu_rep(path, time_limit_s=time_limit_s)
    if path.suffix == ".ncu-rep" and (not data or b"\0" in data[:4096]):
        raise BadInput(f"{path.name}: not an Nsight Compute report: it does not begin with NVR", hint=EXPECTED)
    if _binary(data):
        raise BadInput(f"{path.name}: not a report: neither an .ncu-rep nor text", hint=EXPECTED)
    return parse_reports(decode(data).text, path.name)


def parse_reports(text: str, name: str = "text") -> tuple[Report, ...]:
    """The reports of a text or CSV that was read already; raises BadInput where it holds none."""
    text = _LONE.sub("\ufffd", text)
    reports = read_csv(text, name) if form_of(text) is not None else read_text(text, name)
    if reports:
        return reports
    raise _why_none(text, name)


def read_bytes(path: Path) -> bytes:
    """The file's bytes; raises CannotReadOrWrite in words."""
    try:
        if path.stat().st_size > LARGEST_TEXT and not path.open("rb").read(4).startswith(b"NVR"):
            raise BadInput(f"{path.name}: larger than {LARGEST_TEXT >> 20} MB: not read", hint=EXPECTED)
        return path.read_bytes()
    except OSError as error:
        raise CannotReadOrWrite(f"{path}: {error.strerror or error}") from error


def _refuse_wrappers(path: Path, data: bytes) -> None:
    if not data:
        raise BadInput(f"{path.name}: empty", hint=EXPECTED)
    if data.startswith(_LFS):
        raise BadInput(f"{path.name}: a Git LFS pointer, not the report itself", hint="fetch it with: git lfs pull")
    if data.startswith(_GZIP):
        inside = "an .ncu-rep" if _unzipped_start(data).startswith(b"NVR") else "something"
        raise BadInput(f"{path.name}: {inside} compressed with gzip", hint="unpack it with: gunzip")


def _unzipped_start(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:4096], 16)
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _binary(data: bytes) -> bool:
    """Whether bytes are neither UTF-8 nor UTF-16 text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    start = data[:4096]
    odd, even = start[1::2].count(0), start[::2].count(0)
    if (odd or even) and min(odd, even) == 0 and max(odd, even) * 4 > len(start):
        return False
    control = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in start)
    return control * 20 > len(start)


def _why_none(text: str, name: str) -> BadInput:
    """What a text without a kernel says of the run that made it."""
    if "ERR_NVGPUCTRPERM" in text:
        return BadInput(
            f"{name}: the profiler was not allowed to read the GPU's counters (ERR_NVGPUCTRPERM)",
            hint=_PERMISSION_HINT,
        )
    if "No kernels were profiled" in text:
        return BadInput(
            f"{name}: no kernels were profiled",
            hint="check the kernel filter (-k regex:NAME, --launch-skip) and that the program launches a kernel",
        )
    for line in text.splitlines():
        if "==ERROR==" in line:
            said = " ".join(line.partition("==ERROR==")[2].split())[:200]
            return BadInput(f"{name}: the profiler failed: {said}", hint="profile again; the file holds no report")
    return BadInput(f"{name}: holds no report of Nsight Compute", hint=EXPECTED)
