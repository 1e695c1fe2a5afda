"""``vicw model``: list, pull, use."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn
from rich.table import Table

from vicw_runtime.console import err, out
from vicw_runtime.operations.command import DataDirOption
from vicw_shared.embedding_models import MODELS
from vicw_standalone.embedding_model.choice import choose
from vicw_standalone.settings import read_settings


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="The embedding model: list, pull, use.", no_args_is_help=True)
    group.command("list")(list_models)
    group.command("pull")(pull)
    group.command("use")(use)
    app.add_typer(group, name="model")


def list_models(data_dir: DataDirOption = None) -> None:
    """List the registered models, whether their files are downloaded, and which one is used."""
    settings = read_settings(data_dir=data_dir)
    foreign = settings.embedding.url is not None or settings.storage.embedder == "none"
    table = Table("model", "dim", "licence", "downloaded", "used", box=None)
    for card in MODELS.values():
        here = card.file is None or (settings.models_dir / card.file).is_file()
        used = not foreign and settings.embedding.model == card.name
        table.add_row(card.name, str(card.size), card.licence, "yes" if here else "no", "yes" if used else "")
        table.add_row(f"[dim]  {card.summary}[/]")
    out.print(table)
    if settings.storage.embedder == "none":
        out.print("Used: none (VICW_EMBEDDER=none); answers come from full text, tags and the graph", markup=False)
    elif settings.embedding.url is not None:
        out.print(f"Used: the server at {settings.embedding.url}", markup=False)
    elif settings.embedding.model not in MODELS:
        out.print(f"Used: {settings.embedding.model}", markup=False)


def pull(
    name: Annotated[str, typer.Argument(help="A registered model.")],
    repository: Annotated[str | None, typer.Option(help="Download from this model-hub repository.")] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Download a model from the model hub; an interrupted download resumes. The hash is pinned at first use."""
    from vicw_embedding.models import hub

    settings = read_settings(data_dir=data_dir)
    bar = Progress("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), console=err)
    with bar:
        task = bar.add_task(name, total=None)
        model = hub.pull(
            name,
            settings.models_dir,
            repository=repository or settings.embedding.repository,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    out.print(f"{model.card.name} is in {model.path} (SHA-256 {model.digest})", markup=False)


def use(
    name: Annotated[str, typer.Argument(help="A registered model, or the path of a GGUF file.")],
    data_dir: DataDirOption = None,
) -> None:
    """Choose the model of a data directory. `vicw reindex` then embeds the stored passages again."""
    from vicw_embedding.models import model_files

    settings = read_settings(data_dir=data_dir, model=name)
    model = model_files.resolve(settings.embedding, settings.models_dir)
    choose(settings.storage.data_dir, name)
    out.print(f"{settings.storage.data_dir} now uses {model.card.name} ({model.card.size}-d).", markup=False)
    out.print("If it already holds passages, run `vicw reindex` next.", markup=False)
