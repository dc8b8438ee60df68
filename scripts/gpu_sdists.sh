#!/usr/bin/env bash
# Puts what scripts/gpu_session.sh needs into DIR, for a machine that reaches no registry.
#
#   scripts/gpu_sdists.sh DIR [PYTHON_VERSION [PLATFORM...]]      such as: DIR 3.12 manylinux_2_28_x86_64
set -euo pipefail

dir=${1:?usage: scripts/gpu_sdists.sh DIR [PYTHON_VERSION [PLATFORM...]]}
version=${2:-3.12}
shift $(($# < 2 ? $# : 2))
platforms=("$@")
[ ${#platforms[@]} -gt 0 ] || platforms=(manylinux_2_28_x86_64 manylinux_2_25_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64)
root=$(cd "$(dirname "$0")/.." && pwd)
python=python3
[ -x "$root/.venv/bin/python" ] && python=$root/.venv/bin/python
pip() { "$python" -m pip --disable-pip-version-check -q "$@"; }

mkdir -p "$dir"
pip download "pycuda==${PYCUDA_VERSION:-2026.1}" --no-binary pycuda --no-deps -d "$dir"
wheels() {
  pip download --no-deps --only-binary=:all: --python-version "$version" --implementation cp \
    "${platforms[@]/#/--platform=}" -d "$dir" "$@"
}
wheels pytools mako markupsafe platformdirs typing_extensions siphash24
wheels ncu-report || echo "warning: no ncu-report for these platforms; an installed ncu reads the reports then" >&2
ls -l "$dir"
