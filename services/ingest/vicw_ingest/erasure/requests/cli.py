"""``vicw forget`` at the address of a server: its ``POST /forget``, with a key that has the right ``erase``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from vicw_ingest.erasure.sentences import proven, went
from vicw_runtime.console import err, fail, out, progress_bar
from vicw_runtime.terminal.json_option import print_json
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_ingest.erasure.api import Target
    from vicw_runtime.operations.remote_memory import RemoteMemory
    from vicw_shared.wire.forget import EraseRequest, Erasure, ErasureSelected

_POLL_SECONDS = 0.5


def forget_at(
    server: AbstractContextManager[RemoteMemory], target: Target, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Show what is to be erased, ask, erase it, and print the proof. Exit with 1 if it is not proven."""
    request = request_of(target)
    with server as memory:
        found = memory.forget(request.model_copy(update={"dry_run": True}))
        if dry_run and as_json:
            print_json(found)
            return
        if not as_json:
            out.print(_selected_text(found.selected), markup=False)
        if dry_run:
            return
        if not yes and not typer.confirm("Erase this for good? It cannot be undone", err=True):
            err.print("nothing was erased")
            return
        done = memory.forget(request)
        with progress_bar("erasing") as bar:
            while done.status == "running" and done.erasure is not None:
                bar(done.step or "erasing", done.done, 0)
                time.sleep(_POLL_SECONDS)
                done = memory.erasure(done.erasure)
    if as_json:
        print_json(done)
    else:
        _print(done)
    if done.status != "done":
        raise typer.Exit(1)


def request_of(target: Target) -> EraseRequest:
    """Return the request for what a command names. The command has asked, so what it names may be all there is."""
    from vicw_ingest.erasure import api
    from vicw_shared.wire.forget import EraseRequest

    match target:
        case api.ItemsToForget(ids=ids, context=context):
            return EraseRequest(items=ids, context=context, wait=False)
        case api.FilterToForget(filter=chosen, context=context):
            return EraseRequest(filter=chosen, context=context, all=target.all, wait=False)
        case api.UserToForget(user=user, context=context):
            return EraseRequest(user=user, context=context, mentions=target.mentions, wait=False)
        case api.PersonToForget(name=name, context=context):
            return EraseRequest(
                person=name, context=context, everywhere=target.everywhere, mentions=target.mentions, wait=False
            )
        case api.ContextToForget(name=name):
            return EraseRequest(context=name, all=True, wait=False)
        case api.TenantToForget():
            return EraseRequest(all=True, wait=False)


def _selected_text(chosen: ErasureSelected) -> str:
    parts = [
        counted(count, noun, nouns)
        for count, noun, nouns in (
            (chosen.contexts, "whole context", "whole contexts"),
            (chosen.items, "item", "items"),
            (chosen.people, "name of the person", "names of the person"),
        )
        if count
    ]
    text = ", ".join(parts) or "nothing stored"
    if chosen.mentioned:
        mentioning = counted(chosen.mentioned, "item of others", "items of others")
        text += f"\nmentioned in {mentioning}, which stay (--mentions also erases these)"
    return text


def _print(done: Erasure) -> None:
    proof = done.proof
    if proof is None:  # a server that was stopped meanwhile, which goes on
        fail(f"erasure {done.erasure} is not finished: {done.error or done.status}")
    out.print(went(proof.nodes, proof.receipts, proof.steps))
    for place in proof.found:
        out.print(f"still found in {place}", markup=False)
    if proof.proven:
        out.print(f"proven: {proven(proof.read, files=proof.files)}")
        return
    if proof.waiting:
        out.print(f"{counted(proof.waiting, 'passage')} waiting to be updated")
    out.print("not proven: the next erasure searches again", markup=False)
