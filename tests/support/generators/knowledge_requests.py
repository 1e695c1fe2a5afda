"""Requests that fill, change and empty a knowledge folder, beside memories that its pages govern or describe."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.generators.requests import CONTEXTS, IDS, PAGE_IDS, Drawn, maybe, minutes, record, some

FOLDERS = ("wiki", "Code")
_PATHS = (
    *("README.md", "docs/index.md", "docs/keeper.md", "docs/lighthouse-keeper.md", "docs/adr/0007-volcano.md"),
    *("keeper.md", "notes.txt", "src/tide.py", "src/main.py", "lib/client.ts"),
)
_IDS = (*PAGE_IDS, IDS[0])
"""The last is that of other items, too: what was a page may be none when it comes again, and the other way round."""
_TEXTS = (
    "# Lighthouse keeper\n\nThe keeper must count ships. See [[Volcano]] and [the harbour](../README.md).\n",
    "# Lighthouse keeper\n\n## Duties\n\nNobody may burn ships.\n\n## Rest\n\nThe keeper counted [tides](#duties).\n",
    "# Volcano\n\nThe volcano burned. [[lighthouse keeper#Duties]], [[lighthouse keeper#Rest]], [[keeper]].\n",
    "---\ntitle: Harbour rules\nid: ADR-7\naliases: [Mara, the harbour]\ntags: [sea]\n---\nShips shall be counted.\n",
    "---\naliases: [Volcano]\n---\nShips `count_ships` at `src/tide.py`, see https://example.org/ships and ADR 7.\n",
    "The harbour. [code](../src/tide.py) [docs](docs/) [none](none.md) [[notes]]\n",
    "import json\nfrom src import tide\nimport main\n\n\ndef count_ships():  # ADR-7\n    return tide.high(json)\n",
    "import main\n\n\nclass Tide:\n    def high(self):\n        return main.count_ships()\n",
    "import { tide } from '../src/tide';\nexport function ships() { return tide(); }\n",
    " ".join(f"harbour {n} lighthouse keeper" for n in range(12)),
)
_PAGES = st.lists(
    record(
        id=maybe(*_IDS, of=1),
        text=st.sampled_from(_TEXTS),
        page=st.fixed_dictionaries(
            {"folder": st.sampled_from([*FOLDERS[:1] * 3, *FOLDERS[1:]]), "path": st.sampled_from(_PATHS)}
        ),
        name=maybe("Keeper's volcano", of=8),
        tags=some("sea", "draft"),
        sensitivity=maybe("personal", of=6),
        importance=maybe("critical", of=8),
        expires_at=maybe(*minutes(10, 30), of=8),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda item: item["id"],
)
PAGES: st.SearchStrategy[dict[str, Any]] = record(
    context=st.sampled_from(CONTEXTS),
    wait=st.just(False),
    extract=st.sampled_from(["auto", "rules", "rules"]),
    items=_PAGES,
)
FOLDER: Drawn = record(context=st.sampled_from(CONTEXTS), folder=st.sampled_from(FOLDERS))
