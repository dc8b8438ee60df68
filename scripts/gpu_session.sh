#!/usr/bin/env bash
# Everything that needs a GPU, in one unattended run of under eight minutes on one GPU.
#
#   scripts/gpu_session.sh OUT
#
# Needs nvcc, ncu, and a Python (SPARKTRACE_PYTHON, default python3) with NumPy; pytest for the tests. It asks no
# registry: PyCUDA's sdist and the wheels that it needs come from SPARKTRACE_SDISTS (see scripts/gpu_sdists.sh), unless
# PyCUDA is installed already, or SPARKTRACE_PYCUDA is a folder that scripts/build_pycuda.sh built into.
# SPARKTRACE_SECONDS (default 465) is the time for all of it.
#
# Leaves in OUT: session.log, and set.tar (under 16 MiB, written anew after each family), so that a run that is cut off
# still counts. Clocks and power limits are left as they are.
set -uo pipefail

out=${1:?usage: scripts/gpu_session.sh OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
python=${SPARKTRACE_PYTHON:-python3}
seconds=${SPARKTRACE_SECONDS:-465}
work=$(mktemp -d)
export SPARKTRACE_PYTHON=$python SPARKTRACE_DATA=$work/data PYTHONUNBUFFERED=1 LC_ALL=C
export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
exec > >(tee "$out/session.log") 2>&1
tee=$!
# The log is whole only once tee has ended.
trap 'rm -rf "$work"; exec >&- 2>&-; wait $tee' EXIT

left() { echo $((seconds - SECONDS)); }
head_of() { echo; echo "== $* (at ${SECONDS} s)"; }
failed=0

head_of "machine"
uname -srm
command -v nvidia-smi >/dev/null && timeout 20 nvidia-smi
for tool in nvcc ncu; do
  command -v "$tool" >/dev/null || echo "warning: no $tool on the PATH"
done
timeout 20 nvcc --version 2>/dev/null | tail -2
timeout 20 ncu --version 2>/dev/null | tail -1
"$python" -c 'import sys, numpy; print("Python", sys.version.split()[0], "NumPy", numpy.__version__)' || exit 3

if ! "$python" -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
  echo "there is no NVIDIA driver here (libcuda.so.1 does not load): nothing can be measured"
  exit 3
fi

head_of "PyCUDA"
if ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pycuda") is None)'; then
  if site=$(timeout "$(left)" "$root/scripts/build_pycuda.sh" "${SPARKTRACE_PYCUDA:-$work/pycuda}" | tail -1) && [ -d "$site" ]; then
    export PYTHONPATH=$PYTHONPATH:$site
  else
    echo "PyCUDA could not be built: nothing can be measured"
    exit 3
  fi
fi
"$python" -c 'import pycuda.driver as d; d.init(); print("PyCUDA", d.get_version(), "on", d.Device(0).name())' || exit 3
arch=$("$python" -c 'import pycuda.driver as d; d.init(); print("sm_%d%d" % d.Device(0).compute_capability())')

if ! "$python" -c 'import ncu_report' 2>/dev/null && compgen -G "${SPARKTRACE_SDISTS:-/nonexistent}/ncu_report-*.whl" >/dev/null; then
  "$python" -m pip install -q --no-index --no-deps --target "$work/site" "$SPARKTRACE_SDISTS"/ncu_report-*.whl &&
    export PYTHONPATH=$PYTHONPATH:$work/site
fi

cd "$root" || exit 4
kernels=${SPARKTRACE_KERNELS:-$root/kernels}

head_of "compile for $arch"
timeout "$(left)" "$python" -m sparktrace_tui.backends.precompile "$arch" "$kernels" || failed=1

head_of "tests of the GPU"
if "$python" -c 'import pytest' 2>/dev/null; then
  # Two thirds of the time belong to the captures.
  timeout $(($(left) / 3)) "$python" -m pytest -m gpu -o addopts= -p no:cacheprovider --import-mode=importlib -q -rs \
    tests/backends/test_gpu.py || failed=1
else
  echo "pytest is not installed: the tests were not run"
fi

head_of "captures"
timeout "$(($(left) + 5))" "$python" scripts/gpu_session.py "$out" "$work" "$(left)" || failed=1

head_of "end"
ls -l "$out"
exit $failed
