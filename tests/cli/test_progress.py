"""The line that people watch."""

import pytest

from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.local_search import solve_locally
from metasage.cli.progress import Progress, in_percent, shown_progress
from metasage.problems.sets import generate


def test_the_line_follows_the_search():
    line = Progress(time_limit=1e6, iterations=50, best_known=10.0)
    assert "no solution yet" in line.__rich__()
    line.on_iteration(5, 10.25, 2.0)
    text = line.__rich__()
    assert "best 10.25 (+2.50% from best known)" in text
    assert "iteration 5 of 50  2.5/s" in text
    assert "s left" in text
    line.on_local_search(10.1, 3.0)
    assert "best 10.1 (+1.00% from best known)  local search" in line.__rich__()


def test_the_terminal_is_left_as_it_was_whatever_happens(monkeypatch):
    closed = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(Progress, "close", lambda self: closed.append(self))
    with pytest.raises(ValueError, match="broken"), shown_progress(False, 1.0, 5) as line:
        raise ValueError("broken")
    assert closed == [line]


@pytest.mark.parametrize(
    ("objective", "best", "words"),
    [(9.0, 10.0, "-10.00% from best known"), (1.0, 0.0, "best known 0")],
)
def test_the_gap_in_words(objective, best, words):
    assert in_percent(objective, best) == words


def test_the_best_known_objective_is_compared_with_the_result(metasage, tmp_path):
    metasage("generate", "tsp", "--size", 8, "--count", 1, "--seed", 7, "-o", tmp_path / "s.npz")
    file = f"{tmp_path / 's.npz'}#0"
    code, out, _ = metasage("solve", file, "--time-limit", 0.5, "--best-known", 1)
    assert code == 0
    assert "% from best known)" in out


def test_local_search_tells_of_what_it_finds():
    heard = []

    class Listener(Callbacks):
        def on_local_search(self, objective, seconds):
            heard.append((seconds, objective))

    instance = generate("tsp", 60, 1, 5)[0]
    result = solve_locally(instance, time_limit=0.5, callbacks=Listener())
    assert heard
    assert heard[-1][1] == pytest.approx(result.objective)
    assert [row[::2] for row in result.curve] == heard
