"""The log of a run: one JSON object a line, and pictures made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.plotting import save_figure
from metasage.training.run import CURVE, LOG

# Numbers of the log that the picture shows.
_DRAWN = ("instances", "size", "cost", "imitation", "validation")


class RunLog:
    """Appends to the log, after dropping what lies beyond the resumed step.

    Parameters
    ----------
    folder
        Folder of the run.
    step
        Step from which the run goes on.
    unsaved
        How many steps a run makes at most before it saves its state again.
    tensorboard
        Whether to write events for TensorBoard, too.
    """

    def __init__(self, folder: Path, step: int, unsaved: int, tensorboard: bool = False) -> None:
        self._events: Any = _events(folder / "events") if tensorboard else None
        self.path = folder / LOG
        rows = read_log(folder)
        last = max((row["step"] for row in rows), default=0)
        if last > step + unsaved:
            raise InputError(f"the log goes on to step {last}, and the state to {step}.", self.path)
        kept = [row for row in rows if row["step"] <= step]
        write_atomically(self.path, "".join(json.dumps(row) + "\n" for row in kept))
        self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115 - kept open

    def write(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        if self._events is not None:
            for name, value in row.items():
                if isinstance(value, float):
                    self._events.add_scalar(name, value, row["step"])

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._events is not None:
            self._events.close()


def _events(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "TensorBoard is not installed: pip install 'metasage[tensorboard]'."
        ) from None
    return SummaryWriter(str(folder))


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Read the rows of a log; a last line that was cut off is left out.

    Raises
    ------
    InputError
        If the file holds anything else.
    """
    path = folder / LOG
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"the log cannot be read ({error.strerror}).", path) from None
    rows = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not _is_row(row):
            raise InputError("this is not a row of a log.", path, number)
        rows.append(row)
    return rows


def _is_row(row: Any) -> bool:
    """Whether it has a step, and numbers where the picture needs them."""
    if not isinstance(row, dict) or not isinstance(row.get("step"), int):
        return False
    return all(isinstance(row[name], int | float) for name in _DRAWN if name in row)


def draw_curve(folder: Path, latest: dict[str, Any] | None = None) -> None:
    """Draw cost, imitation and validation against the instances seen.

    Parameters
    ----------
    folder
        Folder of the run.
    latest
        A validation that is not part of the log.
    """
    from matplotlib.figure import Figure

    rows = read_log(folder) + ([] if latest is None else [latest])
    rows = [row for row in rows if "instances" in row]
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel("instances seen")
    axes.set_ylabel("cost")
    lines = _lines(axes, rows, "cost", "-", "sampled mean")
    checks = [row for row in rows if "validation" in row]
    if checks:
        seen, found = zip(*((row["instances"], row["validation"]) for row in checks), strict=True)
        label = "validation, greedy from all starts"
        lines += axes.plot(seen, found, "ko-", markersize=3, label=label)
    if any("imitation" in row for row in rows):
        right = axes.twinx()
        right.set_ylabel("imitation: negative log-likelihood of a decision")
        lines += _lines(right, rows, "imitation", ":", "imitation")
    if lines:
        axes.legend(handles=lines)
    save_figure(figure, folder / CURVE)


def _lines(axes: Any, rows: list[dict[str, Any]], name: str, style: str, label: str) -> list[Any]:
    """Draw a number of the log, one line a size."""
    lines: list[Any] = []
    steps = [row for row in rows if name in row and "size" in row]
    for size in sorted({row["size"] for row in steps}):
        part = [row for row in steps if row["size"] == size]
        seen, values = [row["instances"] for row in part], [row[name] for row in part]
        lines += axes.plot(seen, values, style, linewidth=0.8, label=f"{label}, N={size}")
    return lines
