#!/usr/bin/env bash
# Makes the emulated capture sets and the frozen prompts again, from the families, the pinned compiler and the model.
# The same sources give the same bytes: `git diff --exit-code captures prompts` afterwards says whether they did.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
for device in gb10 h200; do
  "$python" -m sparktrace_tui capture --backend emulated --device "$device" --into captures --again >/dev/null
done
for set in gb10-emulated h200-emulated; do
  "$python" -m sparktrace_tui prompts write --captures "$set" --into prompts
done
