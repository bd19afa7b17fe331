"""Options that do not go together, refused before anything is read (typer)."""

from __future__ import annotations

from pathlib import Path

import typer

# Options of `cluster` that make sense with a saved model only, and without one only.
WITH_MODEL = ("split", "label")
WITHOUT_MODEL = (
    "distance", "weights", "opening_cost", "candidates", "solver", "gap", "time_limit",
    "must_link", "cannot_link", "seed", "save",
)  # fmt: skip
# Options of `segment` that a saved model has made its own, that a learner leaves open, and that it
# does not know.
SETTINGS = ("penalty", "min_size", "scale")
OF_LEARNERS = ("n_segments", "share_labels")
NOT_OF_LEARNERS = ("labels",)
# Options of `learn` that one kind only has.
OF_CLUSTERS = ("compare", "opening_cost")
OF_CHANGES = ("regions", "metric", "features", "penalty", "criterion")


def check_cluster(ctx: typer.Context, model: Path | None) -> None:
    """Refuse options of a search that a saved model has made its own, and the other way round."""
    if model is None:
        _refuse(ctx, WITH_MODEL, "only allowed with --model; name a model, or leave this out")
    else:
        _refuse(
            ctx,
            WITHOUT_MODEL,
            f"not allowed with --model, as {model.name} says how to group; leave this out",
        )


def check_learn(ctx: typer.Context) -> None:
    """Refuse options of the other kind, and see to it that one way shows what is to be learnt."""
    given = ctx.params
    if given["kind"].value == "clusters":
        _refuse(ctx, OF_CHANGES, "only allowed with --kind changes; leave this out")
        if given["label"] is None:
            raise typer.BadParameter(
                "name the column with the cluster of every row", param_hint="--label"
            )
        if given["regulariser"].value == "trace":
            raise typer.BadParameter(
                "trace is for --kind changes --metric full", param_hint="--regulariser"
            )
        return
    _refuse(ctx, OF_CLUSTERS, "not allowed with --kind changes; leave this out")
    if (given["label"] is None) == (given["regions"] is None):
        raise typer.BadParameter(
            "name either the column with the segment of every row, or a file of regions",
            param_hint="--label, --regions",
        )
    if given["regulariser"].value == "trace" and given["metric"].value != "full":
        raise typer.BadParameter("trace is for --metric full", param_hint="--regulariser")


def check_segment(ctx: typer.Context, model: Path | None) -> None:
    """Refuse two ways to say how many segments there are, and what a saved model says."""
    if ctx.params["penalty"] is not None and ctx.params["n_segments"] is not None:
        raise typer.BadParameter(
            "two ways to say how many segments there are; leave out one of them",
            param_hint="--penalty, --n-segments",
        )
    if model is None:
        _refuse(ctx, ("share_labels",), "only allowed with a --model of likewise learn")
        return
    why = f"not allowed with --model, as {model.name} says how to cut; leave this out"
    _refuse(ctx, SETTINGS, why)
    # Which options are left depends on what the file holds.
    if not _chosen(ctx, (*OF_LEARNERS, *NOT_OF_LEARNERS)):
        return
    from likewise.app.segmenting import holds_learner

    if holds_learner(model):
        why = f"not allowed with {model.name}, which was learnt; leave this out"
        _refuse(ctx, NOT_OF_LEARNERS, why)
    else:
        _refuse(ctx, OF_LEARNERS, why)


def _chosen(ctx: typer.Context, names: tuple[str, ...]) -> list[str]:
    """Those of some parameters that the command line names, as it spells them."""
    return [
        f"--{'set' if name == 'split' else name.replace('_', '-')}"
        for name in ctx.params
        if name in names and getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]


def _refuse(ctx: typer.Context, names: tuple[str, ...], why: str) -> None:
    chosen = _chosen(ctx, names)
    if chosen:
        raise typer.BadParameter(why, param_hint=", ".join(chosen))
