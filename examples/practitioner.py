"""From a file to a checked, drawn and written solution.

    python examples/practitioner.py [FILE] [SECONDS]

The same on the command line:

    metasage solve examples/town200.vrp --time-limit 10 -o town.sol --plot town.png
"""

import sys
from pathlib import Path

import metasage

DEFAULT = Path(__file__).parent / "town200.vrp"


def main() -> None:
    """Solve a file, look at the result, and start again from it."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    instance = metasage.read_instance(file)
    print(f"{instance.name}: {instance.problem.name} with {instance.size} customers")

    result = metasage.solve(instance, time_limit=seconds)
    print(f"objective {result.objective:g}, found by {result.found_by}")
    for route in result.routes[:3]:
        print(f"  {len(route.nodes)} stops, load {route.load:g}, length {route.length:g}")

    # An earlier solution is never made worse. This time the network adapts to the
    # instance first, and local search goes on from its best routes.
    again = metasage.solve(instance, "sage", time_limit=seconds / 2, initial_solution=result.best)
    print(f"objective {again.objective:g} after going on from there")

    verdict = metasage.check(instance, again.best)
    assert verdict.feasible, verdict.violation
    solution, picture = f"{file.stem}-solution.json", f"{file.stem}.png"
    metasage.write_solution(solution, instance, again.best)
    metasage.plot(instance, again.best, picture)
    print(f"written: {solution} and {picture}")


if __name__ == "__main__":
    main()
