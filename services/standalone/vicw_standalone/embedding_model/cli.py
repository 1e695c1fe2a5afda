"""``vicw model``: list, pull, use."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from vicw_runtime.console import err, out
from vicw_runtime.operations.command import DataDirOption
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.embedding_models import MODELS, EmbeddingModel, ModelFormat
from vicw_shared.errors import SettingsError
from vicw_standalone.embedding_model.choice import choose
from vicw_standalone.settings import StandaloneSettings, read_settings

if TYPE_CHECKING:
    from vicw_embedding.models.model_files import ModelFile


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="The embedding model: list, pull, use.", no_args_is_help=True)
    group.command("list")(list_models)
    group.command("pull")(pull)
    group.command("use")(use)
    app.add_typer(group, name="model")


def list_models(as_json: JsonOption = False, data_dir: DataDirOption = None) -> None:
    """List the registered models: what each costs, whether it is on this machine, and which one is used."""
    settings = read_settings(data_dir=data_dir)
    foreign = settings.embedding.url is not None or settings.storage.embedder == "none"
    if as_json:
        used = None if foreign else settings.embedding.model
        rows = [
            {**asdict(card), "here": _is_here(card, settings.models_dir), "used": card.name == used}
            for card in MODELS.values()
        ]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for card in MODELS.values():
        states = ["here" if _is_here(card, settings.models_dir) else "not here"]
        states += ["used"] if not foreign and settings.embedding.model == card.name else []
        facts = f"{card.size} dimensions, languages: {card.languages}, licence: {card.licence}"
        for line in (
            f"{card.name} ({', '.join(states)})",
            f"  {card.summary}",
            f"  {facts}",
            f"  {_describe_cost(card)}",
        ):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
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
    model = _pull(read_settings(data_dir=data_dir), name, repository)
    out.print(f"{model.card.name} is in {model.path} (SHA-256 {model.digest})", markup=False)
    _warn_without_engine(model.card)


def use(
    name: Annotated[str, typer.Argument(help="A registered model, or the path of a GGUF or ONNX file or its folder.")],
    data_dir: DataDirOption = None,
) -> None:
    """Choose the model of a data directory; a registered one is downloaded if it is not there.

    `vicw reindex` then embeds the stored passages again.
    """
    from vicw_embedding.models import model_files

    settings = read_settings(data_dir=data_dir, model=name)
    if (card := MODELS.get(name)) is not None and not _is_here(card, settings.models_dir):
        if problem := model_files.engine_problem(card):
            raise SettingsError(f"{name} cannot run here. {problem}")
        _pull(settings, name, None)
    model = model_files.resolve(settings.embedding, settings.models_dir)
    choose(settings.storage.data_dir, name)
    out.print(f"{settings.storage.data_dir} now uses {model.card.name} ({model.card.size}-d).", markup=False)
    out.print(f"It costs: {_describe_cost(model.card, model.path)}", markup=False)
    out.print("If it already holds passages, run `vicw reindex` next.", markup=False)


def _pull(settings: StandaloneSettings, name: str, repository: str | None) -> ModelFile:
    from vicw_embedding.models import hub

    if (card := MODELS.get(name)) is not None and card.cost is not None and card.cost.download_mb:
        err.print(f"{name}: {_describe_cost(card)}", markup=False)
    with Progress("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), console=err) as bar:
        task = bar.add_task(name, total=None)
        return hub.pull(
            name,
            settings.models_dir,
            repository=repository or settings.embedding.repository,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _is_here(card: EmbeddingModel, models_dir: Path) -> bool:
    from vicw_embedding.models import model_files

    try:
        return model_files.location(card, models_dir).is_file()
    except SettingsError:  # it comes with a package that is not installed
        return False


def _describe_cost(card: EmbeddingModel, path: Path | None = None) -> str:
    """Return what a model costs and needs; of an own file, at ``path``, only what it shows."""
    from vicw_embedding.models import model_files

    if card.cost is not None:
        download = f"{card.cost.download_mb} MB to download" if card.cost.download_mb else "nothing to download"
        parts = [
            download,
            f"{card.cost.memory_mb} MB of memory",
            f"{card.cost.relative_time:g} times the default's time a text",
        ]
    else:
        parts = [f"{path.stat().st_size / 1e6:.0f} MB of weights"] if path is not None else []
    engine = "llama.cpp" if card.format is ModelFormat.GGUF else "onnxruntime"
    missing = "" if model_files.engine_problem(card) is None else ", which is not installed"
    return ", ".join([*parts, f"{card.format.upper()} for {engine}{missing}"])


def _warn_without_engine(card: EmbeddingModel) -> None:
    from vicw_embedding.models import model_files

    if problem := model_files.engine_problem(card):
        err.print(f"{card.name} cannot run here. {problem}", markup=False)
