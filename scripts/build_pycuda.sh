#!/usr/bin/env bash
# Builds PyCUDA, which has no wheel, and puts it and what it needs into a folder that can go onto PYTHONPATH.
#
#   scripts/build_pycuda.sh [DIR [LIBCUDA_DIR]]
#
# DIR          where wheels and sites are kept (default: ${XDG_CACHE_HOME:-~/.cache}/sparktrace/pycuda-wheel)
# LIBCUDA_DIR  a folder with a libcuda.so to link against (default: an empty one made here; the driver's own is found
#              when the module is loaded)
# SPARKTRACE_SDISTS=FOLDER  takes PyCUDA's sdist and the wheels it needs from there; no registry is asked
# SPARKTRACE_PYTHON=PYTHON  the Python to build for (default: .venv's, else python3)
#
# The last line on stdout is the site folder. It is built once for each version of PyCUDA and Python and kept.
set -euo pipefail

version=${PYCUDA_VERSION:-2026.1}
keep=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/sparktrace/pycuda-wheel}
libcuda=${2:-}
root=$(cd "$(dirname "$0")/.." && pwd)
python=${SPARKTRACE_PYTHON:-}
if [ -z "$python" ]; then
  python=python3
  [ -x "$root/.venv/bin/python" ] && python=$root/.venv/bin/python
fi
key=$("$python" -c 'import platform, sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}")')
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)
site=$keep/pycuda-$version-$key
if [ -e "$site/pycuda/_driver.py" ] || compgen -G "$site/pycuda/_driver*.so" >/dev/null; then
  echo "$site"
  exit 0
fi

say() { echo "build_pycuda: $*" >&2; }
fail() { say "$*"; exit 3; }
command -v g++ >/dev/null || fail "needs g++"

offline=()
[ -n "${SPARKTRACE_SDISTS:-}" ] && offline=(--no-index --find-links "$SPARKTRACE_SDISTS")
pip() { "$python" -m pip --disable-pip-version-check -q "$@" >&2; }
isolation=()
"$python" -c 'import numpy, setuptools, wheel' 2>/dev/null && isolation=(--no-build-isolation)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The headers: a CUDA toolkit's, or those of NVIDIA's packages.
include=
for place in "$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /none/none)")")")/include" \
  "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/cuda/include; do
  if [ -f "$place/cuda.h" ] && [ -f "$place/cudaProfiler.h" ]; then include=$place; break; fi
done
if [ -z "$include" ]; then
  pip install "${offline[@]}" --no-deps --target "$work/headers" 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-profiler-api==13.0.*' \
    || fail "finds no cuda.h: install a CUDA toolkit"
  include=$work/headers/nvidia/cu13/include
fi

if [ -z "$libcuda" ]; then
  libcuda=$work/stub
  mkdir -p "$libcuda"
  # One symbol that PyCUDA uses, so that no linker drops the library as not needed.
  echo 'int cuInit(unsigned flags) { return flags ? 1 : 0; }' |
    gcc -shared -fPIC -x c - -Wl,-soname,libcuda.so.1 -o "$libcuda/libcuda.so"
fi

say "building PyCUDA $version for $key (about two minutes)"
if [ -n "${SPARKTRACE_SDISTS:-}" ]; then
  cp "$SPARKTRACE_SDISTS/pycuda-$version.tar.gz" "$work/" || fail "no pycuda-$version.tar.gz in $SPARKTRACE_SDISTS"
else
  pip download "pycuda==$version" --no-binary pycuda --no-deps "${isolation[@]}" -d "$work" \
    || fail "cannot get the sdist of PyCUDA $version"
fi
tar -xf "$work/pycuda-$version.tar.gz" -C "$work"
cd "$work/pycuda-$version"
"$python" configure.py --no-cuda-enable-curand --cuda-inc-dir="$include" --cudadrv-lib-dir="$libcuda" \
  --cxxflags=-g0,-O1,-w >&2
pip wheel . --no-deps "${isolation[@]}" -w "$work/wheels" || fail "PyCUDA does not build (see above)"

# What it needs but NumPy, which must be the one that the rest of the program uses.
pip install "${offline[@]}" --no-deps --target "$work/site" "$work"/wheels/pycuda-*.whl
pip install "${offline[@]}" --no-deps --target "$work/site" pytools mako markupsafe platformdirs typing_extensions siphash24
rm -rf "$site.new" && cp -r "$work/site" "$site.new" && rm -rf "$site" && mv "$site.new" "$site"
say "built"
echo "$site"
