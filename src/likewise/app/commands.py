"""The commands and their exit codes (typer).

Exit codes: 0 done; 1 something about the data, the files or the machine, explained in one line; 2
the command was not understood; 130 interrupted. Nothing heavy is loaded before a command runs, so
``--help`` stays fast.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from likewise.app import change_options, option_checks, options, segment_options
from likewise.arrays.interruption import interrupts_told_apart

INTERRUPTED = 130
FAILED = 1


class GuardedGroup(TyperGroup):
    """Commands whose errors become one line and an exit code, unless ``--debug`` was given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``--debug`` wherever it stands, also behind the command."""
        others = [word for word in args if word != "--debug"]
        rest: list[str] = super().parse_args(ctx, ["--debug"] * (others != args) + others)
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            with interrupts_told_apart():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted: what was not yet written is left as it was", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            message = _explain(error)
            if message is None:
                raise
            typer.echo("error: " + " ".join(message.split()), err=True)
            raise typer.Exit(FAILED) from None


def _explain(error: Exception) -> str | None:
    """One line for an error; None for those that typer itself turns into an exit."""
    if type(error).__module__.split(".")[0] in ("typer", "click"):
        return None
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE:  # the reader of our output went away
            return None
        return f"{error.filename or 'input or output'}: {error.strerror or error}"

    from likewise.errors import LikewiseError

    if isinstance(error, LikewiseError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}); try --candidates with a small number, such as 20"
    return (
        f"unexpected {type(error).__name__}: {error}; this is a fault of likewise: run "
        "'likewise --debug ...' and report what it prints"
    )


ABOUT = (
    "Show it how you group things, and it groups new things likewise.\n\n"
    "learn takes sets whose clusters are known, and learns how to compare rows and what a cluster "
    "must be worth. cluster groups new data by what was learnt; or, without a model, partitions "
    "data around exemplars, with a proof of how good the partition is. segment cuts series where "
    "their mean changes, or as learn --kind changes has learnt from segmented ones."
)

app = typer.Typer(
    cls=GuardedGroup,
    name="likewise",
    help=ABOUT,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def whole(version: options.Version = False, debug: options.Debug = False) -> None:
    """Learn how to group, and group."""


@app.command(
    help="Tell what this is about: show grouped sets, learn, group new ones likewise.\n\n"
    "Two stories with a table and a picture each: clusters among columns of noise, where plain "
    "distances fail, and handwritten digits of classes that were never shown. Beside the learner "
    "is what one could do without; the true clusters of new sets only judge."
)
def demo(
    out: options.PictureFolder = Path("demo"),
    json: options.Json = False,
) -> None:
    """Run ``likewise demo``."""
    from likewise.app import terminal
    from likewise.app.demo import run_demo

    with terminal.ProgressBar(hidden=json) as bar:
        report = run_demo(out, bar.update_training, bar.show_stage)
    terminal.show(report, json)


@app.command(
    help="Learn how to group from files whose clusters are known, or how to segment series from "
    "some whose segments are.\n\n"
    "Learns how much every column, or every comparison, counts and what a cluster must be worth, "
    "and writes that to a model file for likewise cluster --model. With --kind changes it learns "
    "how much every column counts and what a segment must be worth, for likewise segment --model. "
    "Ctrl-C stops the training: the best weights so far are written, and the exit code is 130."
)
def learn(
    ctx: typer.Context,
    *,
    train: options.TrainingData,
    label: options.Label = None,
    out: options.LearntModel,
    kind: change_options.LearntKind = change_options.Kind.clusters,
    split: options.Split = None,
    compare: options.Compare = None,
    columns: options.ComparedColumns = None,
    header: options.Header = None,
    opening_cost: options.LearntOpeningCost = "learn",
    regions: change_options.ShownRegions = None,
    metric: change_options.LearntMetric = change_options.Metric.diagonal,
    features: change_options.LearntFeatures = change_options.Features.none,
    penalty: change_options.LearntPenalty = change_options.Penalty.constant,
    criterion: change_options.ChosenCriterion = change_options.Criterion.auto,
    strength: options.Strength = "auto",
    regulariser: options.ChosenRegulariser = options.Regulariser.auto,
    optimiser: options.ChosenOptimiser = options.Optimiser.auto,
    max_iter: options.MaxIter = 200,
    tol: options.Tol = None,
    seed: options.TrainingSeed = None,
    jobs: options.Jobs = None,
    checkpoint: options.Checkpoint = None,
    plot: options.LearntPicture = None,
    json: options.Json = False,
) -> None:
    """Run ``likewise learn``."""
    option_checks.check_learn(ctx)
    shared: dict[str, Any] = {
        "data": tuple(train), "out": out, "split": split, "columns": options.words(columns),
        "header": header, "strength": options.number_or("auto", strength),
        "regulariser": regulariser.value, "optimiser": optimiser.value, "max_iter": max_iter,
        "seed": seed, "jobs": jobs, "checkpoint": checkpoint, "plot": plot,
        **({} if tol is None else {"tol": tol}),
    }  # fmt: skip
    from likewise.app import terminal

    with terminal.ProgressBar(hidden=json) as bar:
        if kind == change_options.Kind.changes:
            from likewise.app.learning_changes import LearnChangesRequest, run_learn_changes

            wanted = LearnChangesRequest(
                **shared, label=label, regions=regions, metric=metric.value,
                features=None if features == change_options.Features.none else features.value,
                penalty=penalty.value, criterion=criterion.value,
            )  # fmt: skip
            report: Any = run_learn_changes(wanted, bar.update_training, bar.show_stage)
        else:
            from likewise.app.learning import LearnRequest, run_learn

            request = LearnRequest(
                **shared, label=label or "", compare=tuple(compare or ()),
                opening_cost=options.number_or("learn", opening_cost),
            )  # fmt: skip
            report = run_learn(request, bar.update_training, bar.show_stage)
    terminal.show(report, json)
    if report.interrupted:
        typer.echo("interrupted: these are the best weights so far", err=True)
        raise typer.Exit(INTERRUPTED)


@app.command(
    help="Partition the rows of a file around exemplars, or group them by a saved model.\n\n"
    "Without --model, the number of clusters follows from the opening cost; Ctrl-C stops the "
    "search: the best partition so far is reported and written, and the exit code is 130. Rows are "
    "numbered from 0 in all that is read and written, like the rows of an array.\n\n"
    "With --model, a learner partitions every set of the file like those that it was shown, a "
    "clusterer that was fitted gives every row the cluster of its nearest exemplar, and one that "
    "was not partitions every set with its settings."
)
def cluster(
    ctx: typer.Context,
    *,
    data: options.Data,
    model: options.GivenModel = None,
    split: options.GroupedSplit = None,
    label: options.KnownLabel = None,
    columns: options.Columns = None,
    header: options.Header = None,
    distance: options.Distance = "sqeuclidean",
    weights: options.Weights = None,
    opening_cost: options.OpeningCost = "median",
    candidates: options.Candidates = None,
    solver: options.ChosenSolver = options.Solver.auto,
    gap: options.Gap = 1e-6,
    time_limit: options.TimeLimit = None,
    must_link: options.MustLink = None,
    cannot_link: options.CannotLink = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    out: options.LabelsFile = None,
    plot: options.PictureFile = None,
    save: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Run ``likewise cluster``."""
    option_checks.check_cluster(ctx, model)
    from likewise.app import terminal

    if model is not None:
        from likewise.app.grouping import GroupRequest, run_group

        grouping = GroupRequest(
            data=data, model=model, columns=options.words(columns), header=header, split=split,
            label=label, jobs=jobs, out=out, plot=plot,
        )  # fmt: skip
        with terminal.ProgressBar(hidden=json) as bar:
            found = run_group(grouping, bar.show_stage)
        terminal.show(found, json)
        return
    from likewise.app.tasks import ClusterRequest, run_cluster

    request = ClusterRequest(
        data=data, columns=options.words(columns), header=header, distance=distance,
        weights=options.numbers(weights), opening_cost=options.number_or("median", opening_cost),
        candidates=candidates, solver=solver.value, gap=gap, time_limit=time_limit,
        must_link=must_link, cannot_link=cannot_link, seed=seed, jobs=jobs, out=out, plot=plot,
        save=save,
    )  # fmt: skip
    with terminal.ProgressBar(hidden=json) as bar:
        report = run_cluster(request, bar.update, bar.show_stage)
    terminal.show(report, json)
    if report.status == "interrupted":
        typer.echo("interrupted: this is the best partition so far", err=True)
        raise typer.Exit(INTERRUPTED)


@app.command(
    help="Cut series into segments where the mean of the columns changes, exactly.\n\n"
    "Writes the segment of every row, counted from 0 in every series. Without --penalty, "
    "--n-segments and --model, every column is divided by its noise and a segment costs 2 p log T; "
    "that suits series of independent noise, and finds too many segments where rows that follow "
    "each other are correlated. With a model of likewise learn --kind changes, series are cut like "
    "those that it was shown. Rows are numbered from 0 in all that is read and written."
)
def segment(
    ctx: typer.Context,
    *,
    data: segment_options.Series,
    model: segment_options.Model = None,
    penalty: segment_options.Penalty = None,
    n_segments: segment_options.NSegments = None,
    share_labels: segment_options.ShareLabels = False,
    min_size: segment_options.MinSize = 1,
    scale: segment_options.Scale = None,
    columns: options.ComparedColumns = None,
    header: options.Header = None,
    split: segment_options.Split = None,
    labels: segment_options.Regions = None,
    out: segment_options.LabelsFile = None,
    plot: segment_options.Picture = None,
    json: options.Json = False,
) -> None:
    """Run ``likewise segment``."""
    option_checks.check_segment(ctx, model)
    from likewise.app import terminal
    from likewise.app.segmenting import run_segment
    from likewise.app.series_cuts import SegmentRequest

    request = SegmentRequest(
        data=tuple(data), model=model, penalty=penalty, n_segments=n_segments, min_size=min_size,
        share_labels=share_labels, scale=scale, columns=options.words(columns), header=header,
        split=split, labels=labels, out=out, plot=plot,
    )  # fmt: skip
    with terminal.ProgressBar(hidden=json) as bar:
        report = run_segment(request, bar.show_stage)
    terminal.show(report, json)


@app.command(
    help="Show what a model file holds: class, parameters, and what was fitted; of a learner also "
    "its weights, and how it compares with what one could do without."
)
def inspect(
    model: options.Model,
    json: options.Json = False,
) -> None:
    """Run ``likewise inspect``."""
    from likewise.app import terminal
    from likewise.app.inspection import run_inspect

    terminal.show(run_inspect(model), json)


@app.command(
    help="Run an experiment, and put what is claimed beside what comes out.\n\n"
    "Writes the measurements (CSV), a report (JSON) and a figure. What has been computed is kept, "
    "so after Ctrl-C the same command goes on where it stopped."
)
def reproduce(
    *,
    name: options.ExperimentArgument = None,
    list_them: options.ListThem = False,
    out: options.ResultFolder = Path("results"),
    quick: options.Quick = False,
    seeds: options.Seeds = None,
    data: options.DataFolder = None,
    jobs: options.Processes = None,
    fresh: options.Fresh = False,
    json: options.Json = False,
) -> None:
    """Run ``likewise reproduce``."""
    if name is None and not list_them:
        raise typer.BadParameter("name an experiment; --list shows them", param_hint="NAME")

    from likewise.app import reproduce as tasks
    from likewise.app import terminal

    if name is None or list_them:
        tasks.show(tasks.list_experiments(), json)
        return
    request = tasks.ReproduceRequest(
        name=name.value, out=out, quick=quick, seeds=seeds, data=data, jobs=jobs, fresh=fresh
    )
    with terminal.ProgressBar(hidden=json) as bar:
        report = tasks.run_reproduce(request, bar.show_stage)
    tasks.show(report, json)
