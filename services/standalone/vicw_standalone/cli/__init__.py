"""The ``vicw`` command: commands that need a server alone, and those of the features, each from its folder."""

from __future__ import annotations

import gc
import os
import sys

import typer

from vicw_runtime.console import INTERRUPTED, problem
from vicw_shared.errors import InvalidInputError, VicwError
from vicw_standalone.cli.access import InstalledAccess
from vicw_standalone.cli.root_group import Commands

_EMBEDDED_MODULES = frozenset(
    {"qdrant_edge", "llama_cpp", "gguf", "huggingface_hub", "hf_xet", "onnxruntime", "tokenizers", "vicw_minilm"}
)
"""Modules that the platform's image does not have."""
_GC_THRESHOLD = 100_000
"""Objects after which garbage is collected. Imports make that many, and a seventh of their time were passes."""

app = typer.Typer(
    name="vicw",
    cls=Commands,
    help="Long-term memory for LLM applications: store items, and retrieve the right evidence with its causes, "
    "order and proof. Self-hosted; no LLM and no network needed.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_given: bool) -> None:
    if is_given:
        from importlib.metadata import version

        print(f"vicw {version('vicw')}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", callback=_print_version),
) -> None:
    """Long-term memory for LLM applications."""
    ctx.obj = InstalledAccess()


def main() -> None:
    """Run the command; expected errors are printed as a sentence, without a traceback."""
    gc.set_threshold(_GC_THRESHOLD)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for them reads every installed package
    try:
        app()
    except VicwError as error:
        problem(error.detail)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name not in _EMBEDDED_MODULES:
            raise
        problem(
            f"{error.name} is not installed here: this installation only works with the platform's engines. "
            "Add --platform; a command without that option (doctor, serve) needs an installation "
            "with the embedded stores"
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ValueError as error:
        if "pydantic" not in sys.modules:  # many commands need no models, which are slow to import
            raise
        _exit_if_invalid(error)
        raise


def _exit_if_invalid(error: ValueError) -> None:
    from pydantic import ValidationError

    from vicw_shared.wire.validation_errors import describe

    if isinstance(error, ValidationError):
        problem(InvalidInputError(*describe(error.errors())).detail)
        sys.exit(1)
