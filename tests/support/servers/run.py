"""The servers and programs of one test run: found when first needed, shared by the tests, reported on at the end.

Where several processes run the tests, each has a ``Run`` and servers of its own; the one that reports hears of all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from support.servers.process import ServerProcess
from support.servers.sources import Found, Given, Missing, NotReady, Running, Source, Unavailable, find

REQUIRE = "VICW_TEST_REQUIRE"
_NOT_SET = "not set"


@dataclass(frozen=True, slots=True)
class Kind[H]:
    """One engine, and where a server of it may come from; ``H`` is what tests get of it."""

    name: str
    variable: str
    parse: Callable[[str], H]
    ping: Callable[[H], None]
    own: Sequence[Source[ServerProcess[H]]]

    def shared(self) -> Sequence[Source[Running[H]]]:
        """Return where a server for all tests may come from.

        One that is named must be there: tests that quietly ran on another would say nothing of the one meant.
        """
        if url := os.environ.get(self.variable):
            return [Source(self.variable, lambda: self._given(url))]
        return [Source(self.variable, _not_set), *self.own]

    def _given(self, url: str) -> Given[H]:
        try:
            server = self.parse(url)
            self.ping(server)
        except (NotReady, ValueError) as error:
            raise Unavailable(f"does not answer: {error}") from error
        return Given(server)


class Run:
    """What the tests of a run have of each kind; every kind is looked for once."""

    def __init__(self, required: Sequence[str] = ()) -> None:
        self._required = required
        self._shared: dict[str, Found[Running[Any]] | Missing] = {}
        self._missing: dict[str, Missing] = {}
        self._sources: dict[tuple[str, str], list[float]] = {}
        self._passed_over: dict[tuple[str, str], Sequence[tuple[str, str]]] = {}
        self._instead: dict[str, str] = {}

    def shared[H](self, kind: Kind[H]) -> H:
        """Return the server that all tests share; raise ``Missing``."""
        if kind.name not in self._shared:
            try:
                self._shared[kind.name] = self._find(kind.name, kind.shared())
            except Missing as missing:
                self._shared[kind.name] = missing
        found = self._shared[kind.name]
        if isinstance(found, Missing):
            raise found
        server: H = found.running.server
        return server

    def private[H](self, kind: Kind[H]) -> ServerProcess[H]:
        """Start a server of the caller's own, to be closed by it; raise ``Missing``."""
        return self._find(f"{kind.name} of the test's own", kind.own).running

    def program(self, name: str, advice: str) -> str:
        """Return the path of a program; raise ``Missing`` with what to do about it."""
        path = shutil.which(name)
        if path is None:
            raise self._missing.setdefault(name, Missing(name, [("PATH", advice)]))
        return path

    def fetched[R](self, name: str, source: Source[R]) -> R:
        """Return what ``source`` fetches; raise ``Missing``."""
        return self._find(name, [source]).running

    def stood_in(self, name: str, what: str) -> None:
        """Note what tests ran on in place of a missing server."""
        self._instead[name] = what

    def close(self) -> None:
        for found in self._shared.values():
            if isinstance(found, Found):
                found.running.close()
        self._shared.clear()

    def told(self) -> dict[str, list[Any]]:
        """Return what is reported, in plain lists that go from process to process."""
        sources = [
            [*source, seconds, [list(each) for each in self._passed_over[source]]]
            for source, seconds in self._sources.items()
        ]
        missing = [
            [name, missing.server, [list(each) for each in missing.tried]] for name, missing in self._missing.items()
        ]
        return {"sources": sources, "missing": missing, "instead": [list(each) for each in self._instead.items()]}

    def hear(self, told: Mapping[str, list[Any]]) -> None:
        """Report what another process's run has told, too; what it lacked is missing, whatever others had."""
        for name, source, seconds, passed_over in told["sources"]:
            self._sources.setdefault((name, source), []).extend(seconds)
            self._passed_over[name, source] = [(passed, reason) for passed, reason in passed_over]
        for name, server, tried in told["missing"]:
            self._missing.setdefault(name, Missing(server, [(source, reason) for source, reason in tried]))
        self._instead.update(told["instead"])

    @property
    def failed(self) -> Sequence[str]:
        """What is required and missing."""
        return [name for name in self._missing if name.partition(" ")[0] in self._required]

    def report(self) -> Iterator[tuple[str, Mapping[str, bool]]]:
        """Yield lines on what was used and what is missing, each with its markup."""
        for (name, source), seconds in self._sources.items():
            times = f"{len(seconds)} times, " if len(seconds) > 1 else ""
            yield f"{name}: from {source}, started {times}in {max(seconds):.1f} s", {"green": True}
            for passed, reason in self._passed_over[name, source]:
                yield f"  {passed}: {(reason.splitlines() or [''])[0][:200]}", {}
        for name, missing in self._missing.items():
            yield f"MISSING {name}: tests that need it did not run. Tried:", {"red": True, "bold": True}
            for source, reason in missing.tried:
                yield f"  {source}: {reason.replace('\n', '\n    ')}", {"red": True}
            if name in self._instead:
                yield f"  In its place: {self._instead[name]}", {"yellow": True}
        for name in self.failed:
            yield f"FAILED: {REQUIRE} requires {name}, which is missing", {"red": True, "bold": True}

    def _find[R](self, name: str, sources: Sequence[Source[R]]) -> Found[R]:
        if name in self._missing:
            raise self._missing[name]
        try:
            found = find(name, sources)
        except Missing as missing:
            self._missing[name] = missing
            raise
        self._sources.setdefault((name, found.source), []).append(found.seconds)
        self._passed_over[name, found.source] = [each for each in found.passed_over if each[1] != _NOT_SET]
        return found


def required(names: Sequence[str]) -> Sequence[str]:
    """Return the names that ``VICW_TEST_REQUIRE`` lists; raise ``ValueError`` for one that is not of ``names``."""
    listed = [name.strip() for name in os.environ.get(REQUIRE, "").split(",") if name.strip()]
    if unknown := sorted(set(listed) - set(names)):
        raise ValueError(f"{REQUIRE} names {', '.join(unknown)}; there are {', '.join(names)}")
    return listed


def _not_set() -> Running[Any]:
    raise Unavailable(_NOT_SET)
