"""``metasage generate``: random instances by the published recipes."""

from __future__ import annotations

from typing import Annotated

import typer


def generate(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="tsp, cvrp, pctsp or op.")],
    size: Annotated[int, typer.Option("--size", help="Number of nodes to visit.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="SET.npz", help="File to write.")
    ],
    count: Annotated[int, typer.Option("--count", help="Number of instances.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the recipe.")] = 1234,
    layout: Annotated[
        str, typer.Option("--layout", help="Places: uniform, clustered or mixed.")
    ] = "uniform",
    capacity: Annotated[
        float | None, typer.Option("--capacity", help="Vehicle capacity (cvrp).")
    ] = None,
    max_length: Annotated[
        float | None,
        typer.Option(
            "--max-length", help="Length limit (op), or what penalties scale with (pctsp)."
        ),
    ] = None,
) -> None:
    """Generate a set of random instances, bit for bit as the published recipes do.

    Constants, unless given, are the published ones: capacity 30, 40, 50, 55, 60, 70 at 20, 50, 100,
    125, 150, 200 customers and 50 above; length 2, 3, 4, 4, 5, 6 at 20, 50, 100, 400, 500, 1000.
    Sizes between these get interpolated values, smaller and larger ones those of the nearest.
    """
    from typing import cast

    from metasage.io import write_set
    from metasage.problems.layout import Layout
    from metasage.problems.sets import generate as draw

    given = {"capacity": capacity, "max_length": max_length}
    constants = {name: value for name, value in given.items() if value is not None}
    instances = draw(problem, size, count, seed, cast(Layout, layout), **constants)
    write_set(output, instances)
    typer.echo(f"{output}: {count} x {problem}{size}, seed {seed}, {layout}")
