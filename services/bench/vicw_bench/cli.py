"""``vicw bench``: recall of the evidence, relevance, speed, quality of extraction, and cases with right answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vicw_shared.wire.ingest import Extract

StoreOption = Annotated[
    Path | None, typer.Option(help="Folder of filled stores, reused by the next run. \\[default: ~/.cache/vicw/bench]")
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write all measurements to this file.")]
ModelOption = Annotated[str | None, typer.Option(help="Embedding model. \\[or VICW_EMBEDDING_MODEL]")]


app = typer.Typer(help="Measure: fidelity, relevance, speed, the write path, extraction, cases.", no_args_is_help=True)


@app.command()
def fidelity(
    data: Annotated[Path, typer.Option(help="Folder of sets (docs/bench.md).", exists=True, file_okay=False)],
    sets: Annotated[str | None, typer.Option(help="Only these sets, separated by commas.", metavar="A,B")] = None,
    store: StoreOption = None,
    pool_sets: Annotated[
        str | None,
        typer.Option("--pool", help="Put these sets (or: all) into one store, ask without a domain, count leaks."),
    ] = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Compare single channels and all fusions.")] = False,
    budget: Annotated[
        int | None, typer.Option(help="Measure the evidence within answers of this many characters instead.", min=1)
    ] = None,
    consolidated: Annotated[
        bool,
        typer.Option("--consolidated", help="Ask copies of the stores with everything consolidated."),
    ] = False,
    categories: Annotated[bool, typer.Option("--categories", help="Show a row for each category.")] = False,
    busy: Annotated[
        int, typer.Option(help="Ask once more beside so many busy loops: the same must be found.", min=0, max=64)
    ] = 0,
    json_file: JsonOption = None,
    extract: Annotated[Extract, typer.Option(help="Extraction of the items.")] = Extract.AUTO,
    url: Annotated[str | None, typer.Option(help="Measure a running server. \\[default: in this process]")] = None,
    retrieve_url: Annotated[
        str | None, typer.Option(help="Address of the retrieval service, if it is a separate one.")
    ] = None,
    model: ModelOption = None,
) -> None:
    """Measure how much of the evidence is found: R@5, R@10, all@k, MRR, milliseconds.

    Each set is stored in its own store, which the next run reuses; a stopped run resumes. With --url all sets go into
    that server's store and stay there: use a server that serves nothing else.
    """
    from vicw_bench import runs

    runs.fidelity(
        data,
        sets,
        store,
        pool_sets,
        extract=extract,
        ablate=ablate,
        budget=budget,
        consolidated=consolidated,
        categories=categories,
        busy=busy,
        json=json_file,
        url=url,
        retrieve_url=retrieve_url,
        model=model,
    )


@app.command()
def relevance(
    data: Annotated[Path, typer.Option(help="Folder of sets (docs/bench.md).", exists=True, file_okay=False)],
    sets: Annotated[str | None, typer.Option(help="Only these sets, separated by commas.", metavar="A,B")] = None,
    store: StoreOption = None,
    fit: Annotated[
        Path | None, typer.Option(help="Write the constants that these sets give to this file.", dir_okay=False)
    ] = None,
    json_file: JsonOption = None,
    model: ModelOption = None,
) -> None:
    """Measure whether relevance tells if the evidence of a question is stored, and fit its constants for a model.

    Each set is stored three times: with all items, and without the evidence of either half of its questions.
    """
    from vicw_bench import runs

    runs.relevance(data, sets, store, fit, json=json_file, model=model)


@app.command()
def speed(
    memories: Annotated[str, typer.Option(help="Sizes of the stores to measure.", metavar="N,N")] = "10000",
    clients: Annotated[str, typer.Option(help="Numbers of concurrent clients.", metavar="N,N")] = "1,8",
    queries: Annotated[int, typer.Option(help="Questions per number of clients.", min=1)] = 200,
    store: StoreOption = None,
    json_file: JsonOption = None,
    model: ModelOption = None,
) -> None:
    """Measure latency, memory and disk of the real server over synthetic chats.

    Stores are filled through the write path with random vectors, and kept.
    """
    from vicw_bench import runs

    runs.speed(_numbers(memories), _numbers(clients), queries, store=store, json=json_file, model=model)


@app.command()
def ingest(
    data: Annotated[
        Path | None,
        typer.Option(help="A set to store (docs/bench.md). \\[default: synthetic chats]", exists=True),
    ] = None,
    items: Annotated[int, typer.Option(help="Number of items, from the start of the set.", min=1)] = 2000,
    extract: Annotated[Extract, typer.Option(help="Extraction of the items.")] = Extract.RULES,
    rounds: Annotated[int, typer.Option(help="Rounds, each with a part of the items in a new store.", min=1)] = 3,
    json_file: JsonOption = None,
    model: ModelOption = None,
) -> None:
    """Measure the write path against the embedder alone, on the same texts, and how the graph grows."""
    from vicw_bench import runs

    runs.ingest(data, items, extract, rounds, json=json_file, model=model)


@app.command()
def extract(
    data: Annotated[
        Path,
        typer.Option(
            help="Folder with the sets causes and spo, or one of them.",
            exists=True,
            file_okay=False,
        ),
    ],
    json_file: JsonOption = None,
) -> None:
    """Measure extraction without an LLM: causes and effects, agents, sentences per second."""
    from vicw_bench import runs

    runs.extract(data, json=json_file)


@app.command()
def cases(
    folder: Annotated[Path, typer.Argument(help="Folder of cases (docs/bench.md).", exists=True, file_okay=False)],
    url: Annotated[str | None, typer.Option(help="Replay on a running server. \\[default: one of its own]")] = None,
    retrieve_url: Annotated[
        str | None, typer.Option(help="Address of the retrieval service, if it is a separate one.")
    ] = None,
    json_file: JsonOption = None,
    model: ModelOption = None,
) -> None:
    """Replay cases, small inputs with their right answers, over HTTP; print what is wrong. Exit code 1 if any is.

    They run in the order of their names, on one store, which is removed afterwards. With --url it is that server's, and
    what they store stays there: use a server that serves nothing else.
    """
    from vicw_bench import runs

    if not runs.cases(folder, url, retrieve_url, json=json_file, model=model):
        raise typer.Exit(1)


def _numbers(given: str) -> list[int]:
    try:
        return [int(part) for part in given.replace("_", "").split(",")]
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a list of numbers such as 1,8") from None
