"""The line that people watch, and pictures in time."""

import time

import pytest

from metasage.cli.output import Progress, draw_in_time, in_percent, shown_progress
from metasage.errors import NetworkLeftOut
from metasage.problems import Solution
from metasage.solving.clock import picture_reserve


def test_the_line_follows_the_search():
    line = Progress(time_limit=1e6, iterations=50, best_known=10.0)
    assert "no solution yet" in line.__rich__()
    line.on_iteration(5, 10.25, 2.0)
    text = line.__rich__()
    assert "best 10.25 (+2.50% from best known)" in text
    assert "iteration 5 of 50  2.5/s" in text
    assert "s left" in text
    line.on_stage("local search")
    line.on_best(Solution([[0, 1]]), 10.1, 5)
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


def test_a_picture_that_comes_too_late_is_left_out_with_a_word(tmp_path):
    drawn = []
    draw_in_time(drawn.append, "a.png", None)
    draw_in_time(drawn.append, "b.png", time.monotonic() + 60)
    with pytest.warns(NetworkLeftOut, match=r"there was no time left to draw c.png\.$"):
        draw_in_time(drawn.append, "c.png", time.monotonic() - 1)
    assert drawn == ["a.png", "b.png"]


def test_pictures_leave_the_search_at_least_half_of_the_time():
    assert picture_reserve(60, 1, 200) < 1
    assert 5 < picture_reserve(60, 1, 70_000) < 10
    assert picture_reserve(1, 2, 70_000) == 0.5
