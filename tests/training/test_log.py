"""The log of a run, and the events that TensorBoard reads."""

import sys

import pytest

from metasage.errors import InputError
from metasage.training.log import RunLog, read_log


def test_without_tensorboard_its_events_are_refused_and_the_log_stays(tmp_path, monkeypatch):
    RunLog(tmp_path, 0).write({"step": 0, "cost": 2.0})
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="TensorBoard is not installed"):
        RunLog(tmp_path, 0, tensorboard=True)
    assert read_log(tmp_path) == [{"step": 0, "cost": 2.0}]


def test_tensorboard_reads_every_number_of_a_row(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log = RunLog(tmp_path, 0, tensorboard=True)
    for step in (1, 2):
        log.write({"step": step, "cost": 3.0 / step, "size": 20})
    log.close()
    events = reader.EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("cost")] == [(1, 3.0), (2, 1.5)]


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    log = RunLog(tmp_path, 0)
    log.write({"step": 1, "cost": 1.0})
    log.write({"step": 2, "cost": 2.0})
    log.close()
    text = log.path.read_text()
    log.path.write_text(text[:-5])
    assert [row["step"] for row in read_log(tmp_path)] == [1]
    # Going on from step 0 drops what lies beyond it.
    RunLog(tmp_path, 0).close()
    assert read_log(tmp_path) == []
