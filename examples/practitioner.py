"""From a file to a checked, drawn and written solution.

    python examples/practitioner.py [FILE] [SECONDS]

The same on the command line:

    metasage solve examples/town200.vrp --method sage --time-limit 20 -o town.sol --plot town.png
"""

import sys
from pathlib import Path

import metasage
from metasage import MaxRuntime, Sage
from metasage.io import write_solution

DEFAULT = Path(__file__).parent / "town200.vrp"


def main() -> None:
    """Solve a file, look at the result, and start again from it."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    instance = metasage.read(file)
    print(f"{instance.name}: {instance.problem.name} with {instance.size} customers")

    # The network adapts to the instance, then local search goes on from its best routes.
    result = metasage.solve(instance, Sage(), MaxRuntime(seconds), improve="final")
    print(f"objective {result.objective:g} with {len(result.best.routes)} routes")
    for at, _, objective in result.curve[:: max(1, len(result.curve) // 5)]:
        print(f"  after {at:4.1f} s: {objective:g}")

    # An earlier solution is never made worse.
    again = metasage.solve(
        instance, Sage(), MaxRuntime(seconds / 2), improve="final", initial_solution=result.best
    )
    print(f"objective {again.objective:g} after going on from there")

    verdict = metasage.check(instance, again.best)
    assert verdict.feasible, verdict.violation
    solution, picture = f"{file.stem}-solution.json", f"{file.stem}.png"
    write_solution(solution, instance, again.best, again.objective)
    again.plot(picture)
    print(f"written: {solution} and {picture}")


if __name__ == "__main__":
    main()
