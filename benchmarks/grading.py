"""How many replies each grader reads in a second of CPU time: 40 to 2,500 characters, most labelled at the end."""

import time

from sparktrace_tui.domain.quiz.grading import GRADERS, grade

ANALYSIS = (
    "The original stores to tile[tx][ty], so the 32 lanes of a warp hit one bank. Rewrite A pads the tile; B keeps the "
    "value in a register; C and D change the block. The report names SharedMemoryConflicts with 94% of the pipe. "
)
ENDINGS = (
    ("Answer: B", 14), ("**Answer: C**", 3), ("The fastest of the four is D.", 1), ("I'd go with option A.", 1),
    ("B", 1),
)  # fmt: skip


def corpus() -> list[str]:
    """40 replies, each ending in its own way, with one to twelve repeats of the analysis before it."""
    endings = [ending for ending, times in ENDINGS for _ in range(times)]
    return [ANALYSIS * (1 + i % 12) + "\n\n" + ending for i, ending in enumerate(endings * 2)]


def main() -> None:
    """Print the rate of each grader."""
    replies = corpus()
    for grader in GRADERS:
        best = 0.0
        for _ in range(5):
            start = time.process_time()
            for _ in range(50):
                for text in replies:
                    grade(text, "stop", "B", grader)
            best = max(best, 50 * len(replies) / (time.process_time() - start))
        mean = sum(map(len, replies)) / len(replies)
        print(f"{grader}: {best:,.0f} replies a CPU second, {mean:,.0f} characters each")


if __name__ == "__main__":
    main()
