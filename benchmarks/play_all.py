"""How long a whole headless session takes: `play --all` of two baselines on the bundled set, against 5 s.

Runs the command in processes of their own, prints the wall time of each, and checks that all printed the same bytes.
Another set's folder can be given.
"""

import os
import subprocess
import sys
import tempfile
import time

TARGET_S, TIMES = 5.0, 3
SET = sys.argv[1] if len(sys.argv) > 1 else "gb10-emulated"
COMMAND = (
    "play", "--all", "--player", "baseline:report-follower", "--rival", "baseline:random", "--seed", "7",
    "--captures", SET, "--json",
)  # fmt: skip


def main() -> None:
    """Print each run's wall time, and whether it is under the target. Exits 1 where the documents differ."""
    documents = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "sparktrace_tui", *COMMAND],
                capture_output=True,
                env={**os.environ, "SPARKTRACE_DATA": folder},
                check=False,
            )
            spent = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(done.stderr.decode(errors="replace"))
        documents.append(done.stdout)
        games = done.stdout.count(b'"outcome"')
        print(f"{games} games: {spent:.2f} s, {'under' if spent < TARGET_S else 'over'} {TARGET_S:g} s")
    if len(set(documents)) != 1:
        sys.exit("the documents differ")
    print(f"the same {len(documents[0]):,} bytes each time")


if __name__ == "__main__":
    main()
