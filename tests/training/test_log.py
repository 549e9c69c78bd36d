"""The log of a run, and the events that TensorBoard reads."""

import sys

import pytest

from metasage.errors import InputError
from metasage.training.log import RunLog, draw_curve, read_log


def test_without_tensorboard_its_events_are_refused_and_the_log_stays(tmp_path, monkeypatch):
    RunLog(tmp_path, 0, 10).write({"step": 0, "cost": 2.0})
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="TensorBoard is not installed"):
        RunLog(tmp_path, 0, 10, tensorboard=True)
    assert read_log(tmp_path) == [{"step": 0, "cost": 2.0}]


def test_tensorboard_reads_every_number_of_a_row(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log = RunLog(tmp_path, 0, 10, tensorboard=True)
    for step in (1, 2):
        log.write({"step": step, "cost": 3.0 / step, "size": 20})
    log.close()
    events = reader.EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("cost")] == [(1, 3.0), (2, 1.5)]


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    log = RunLog(tmp_path, 0, 10)
    log.write({"step": 1, "cost": 1.0})
    log.write({"step": 2, "cost": 2.0})
    log.close()
    text = log.path.read_text()
    log.path.write_text(text[:-5])
    assert [row["step"] for row in read_log(tmp_path)] == [1]
    # Going on from step 0 drops what lies beyond it.
    RunLog(tmp_path, 0, 10).close()
    assert read_log(tmp_path) == []


def axes_of(folder, monkeypatch, latest=None):
    """Draw a curve, and return the axes of the picture."""
    from matplotlib.figure import Figure

    drawn = []
    honest = Figure.savefig

    def keep(figure, *arguments, **options):
        drawn.extend(figure.axes)
        honest(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    draw_curve(folder, latest)
    assert (folder / "curve.png").stat().st_size > 1000
    return drawn


def test_imitation_has_an_axis_of_its_own(tmp_path, monkeypatch):
    log = RunLog(tmp_path, 0, 10)
    for step, size in ((1, 20), (2, 50), (3, 20)):
        log.write({"step": step, "instances": step, "size": size, "imitation": 1.0 / step})
    log.close()
    left, right = axes_of(tmp_path, monkeypatch, {"step": 3, "instances": 3, "validation": 4.0})
    assert [line.get_ydata().tolist() for line in right.lines] == [[1.0, 1 / 3], [0.5]]
    assert [list(line.get_ydata()) for line in left.lines] == [[4.0]]
    assert len(left.get_legend().get_texts()) == 3


def test_costs_alone_need_no_second_axis_and_nothing_needs_no_line(tmp_path, monkeypatch):
    assert len(axes_of(tmp_path, monkeypatch)) == 1
    log = RunLog(tmp_path, 0, 10)
    log.write({"step": 1, "instances": 1, "size": 20, "cost": 2.0})
    log.close()
    (left,) = axes_of(tmp_path, monkeypatch)
    assert len(left.lines) == 1


@pytest.mark.parametrize(
    "line", ["x", "[]", "{}", '{"step": "1"}', '{"step": 1, "cost": "x"}', "["]
)
def test_a_log_that_somebody_changed_is_one_sentence(tmp_path, line):
    (tmp_path / "log.jsonl").write_text(f'{{"step": 0}}\n{line}\n{{"step": 2}}\n')
    with pytest.raises(InputError, match=r"log.jsonl:2: this is not a row of a log.$"):
        read_log(tmp_path)


def test_a_log_far_ahead_of_the_state_is_one_sentence(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"step": 11}\n')
    with pytest.raises(InputError, match="the log goes on to step 11, and the state to 0"):
        RunLog(tmp_path, 0, 10)
    RunLog(tmp_path, 1, 10).close()
