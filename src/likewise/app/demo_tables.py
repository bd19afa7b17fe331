"""What ``likewise demo`` tells, as tables (rich)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from likewise.app.demo import Chapter, DemoReport, Learnt
from likewise.app.demo_methods import MethodResult
from likewise.app.layout import counted, facts, printed_files, table

# Spaces before what belongs to a chapter.
INDENT = 3
# Shares of the learnt distance below this one are not listed.
LEAST_SHARE = 0.01


def print_demo(report: DemoReport, console: Console) -> None:
    """Print the chapters, and what the figures mean."""
    for number, chapter in enumerate(report.chapters, 1):
        _print_chapter(number, chapter, console)
    told = [
        line.method for chapter in report.chapters for line in chapter.results if line.told_number
    ]
    console.print(
        Text(
            f"Told k: {_joined(list(dict.fromkeys(told)))} are told the true number of clusters of "
            "every new set. likewise is not told, and finds it.\n"
            "ARI: adjusted Rand index with the true clusters of every new set; 1 is perfect, 0 is "
            "chance. They only judge: nothing is chosen by them.\n"
            f"Digits: {report.source}."
        )
    )
    console.print()
    for number, chapter in enumerate(report.chapters, 1):
        printed_files(console, {f"picture {number}": chapter.picture})
    console.print(Text(f"{report.seconds:.0f} seconds in all"))


def _print_chapter(number: int, chapter: Chapter, console: Console) -> None:
    console.print(Text(f"{number}  {chapter.title}", style="bold"))
    weights = [text for text in map(_weights, chapter.learnt) if text]
    lines = {
        "shown": chapter.shown,
        "new": chapter.new,
        # Chosen by the learner, on clusters held out of what was shown.
        "chosen": "; ".join(map(_choice, chapter.learnt)),
        **({"weights": "; ".join(weights)} if weights else {}),
    }
    for part in (facts(lines), _results(chapter)):
        console.print(Padding(part, (0, 0, 0, INDENT)))


def _choice(learnt: Learnt) -> str:
    trained = counted(learnt.passes, "round") if learnt.passes else "not trained"
    return f"{learnt.chosen} ({trained})"


def _weights(learnt: Learnt) -> str:
    """The largest shares in the learnt distance, where it is known which columns are noise."""
    if learnt.noise_share is None:
        return ""
    listed = [
        f"{name} {100 * share:.0f} %"
        for name, share in learnt.weights.items()
        if share >= LEAST_SHARE
    ]
    return f"{', '.join(listed)}; all columns of noise together {100 * learnt.noise_share:.1f} %"


def _results(chapter: Chapter) -> Table:
    made = table("method", "told k", "clusters", "ARI", "mean", "seconds")
    for line in chapter.results:
        made.add_row(*_cells(line), style="bold" if line is chapter.results[0] else None)
    return made


def _cells(line: MethodResult) -> list[str]:
    scores = line.adjusted_rand
    return [
        line.method,
        "yes" if line.told_number else "no",
        ", ".join(map(str, line.clusters)),
        ", ".join(f"{score:.2f}" for score in scores),
        f"{sum(scores) / len(scores):.2f}",
        f"{line.seconds:.2f}",
    ]


def _joined(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}"
