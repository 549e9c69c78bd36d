"""``metasage models``: networks that are there, and networks of other projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from metasage.cli.options import Json, ProblemOption

if TYPE_CHECKING:
    from metasage.policies.model import Model

app = typer.Typer(
    help="List, show and import networks.", rich_markup_mode=None, invoke_without_command=True
)

_COLUMNS = (
    "name", "problem", "kind", "width", "layers", "training size", "instances", "validation",
    "gap", "sml", "default",
)  # fmt: skip


@app.callback()
def default(context: typer.Context) -> None:
    """List, show and import networks; by default, list them."""
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
def list_models(json: Json = None) -> None:
    """List the networks that come with the package."""
    from metasage.cli.output import print_table, write_json
    from metasage.policies.library import default_model, shipped_models
    from metasage.policies.metadata import read_metadata, training_size

    rows = []
    for name, path in shipped_models().items():
        config, provenance = read_metadata(path)
        facts = config.to_dict() | {"name": name, "kind": config.kind} | provenance
        facts.setdefault("training size", training_size(provenance))
        facts["default"] = default_model(config.problem) == name
        facts["sml"] = (path.parent / "sml" / path.name).exists()
        rows.append({column: facts.get(column) for column in _COLUMNS})
    if json is not None:
        write_json({"models": rows}, json)
    if json == "-":
        return
    if rows:
        texts = [[_cell(name, value) for name, value in row.items()] for row in rows]
        print_table(_COLUMNS, texts)
    else:
        typer.echo("no network comes with this installation: train or import one.")


@app.command("show")
def show_model(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A network of the package, or a file.")
    ],
    problem: ProblemOption = None,
    json: Json = None,
) -> None:
    """Show architecture, number of parameters and provenance of a network."""
    from metasage.cli.output import print_facts, write_json
    from metasage.policies.library import find_model

    model = find_model(name, problem)
    facts = {"model": name, "kind": model.config.kind} | model.config.to_dict()
    facts |= count_parameters(model)
    if json is not None:
        write_json(facts | {"provenance": model.provenance}, json)
    if json != "-":
        print_facts({key: _in_words(value) for key, value in (facts | model.provenance).items()})


@app.command("import")
def import_model(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Checkpoint of AM, POMO, EAS, SGBS, Sym-NCO, Meta-SAGE or RL4CO."
        ),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="NAME.safetensors", help="File to write.")
    ],
    problem: ProblemOption = None,
) -> None:
    """Turn a published checkpoint into a model file, without running code from it."""
    from metasage.errors import InputError
    from metasage.policies.foreign import import_checkpoint

    if not output.endswith(".safetensors"):
        raise InputError("a model is written as .safetensors alone.", output)
    model = import_checkpoint(source, problem)
    model.save(output)
    config, counts = model.config, count_parameters(model)
    learner = f" and {counts['sml parameters']} of a scale meta-learner" if model.sml else ""
    typer.echo(
        f"{output}: {model.provenance['imported from']} checkpoint for {config.problem}, "
        f"{config.kind}, width {config.width}, {config.layers} layers, "
        f"{counts['parameters']} parameters{learner}"
    )


def count_parameters(model: Model) -> dict[str, int]:
    """Count the trained numbers of the policy and of its scale meta-learner."""
    from metasage.policies.sml_files import own_sml

    found = own_sml(model)
    learner = [] if found is None else found.learner.parameters()
    return {
        "parameters": sum(weights.numel() for weights in model.policy.parameters()),
        "sml parameters": sum(weights.numel() for weights in learner),
    }


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{100 * value:.2f}%" if name == "gap" else f"{value:.4g}"
    return "-" if value is None else str(_in_words(value))


def _in_words(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
