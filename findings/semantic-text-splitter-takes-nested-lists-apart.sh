#!/usr/bin/env bash
# semantic-text-splitter 0.33.1, `MarkdownSplitter`.
#
# Expected: chunks of a nested list are filled up to their size, overlap as asked for, and keep the indentation of their
# first line (with `trim`, the default, "indentation is preserved" in Markdown).
# Seen: each outer item becomes a chunk of its own, of nine characters here, since its nested items do not fit beside it.
# Between levels of the list nothing overlaps. With an overlap, the first chunk of the inner level loses its indentation,
# so its first item looks like one of another level.
#
# Needs python3 and PyPI. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check semantic-text-splitter==0.33.1
"$work/venv/bin/python" - <<'PY'
from semantic_text_splitter import MarkdownSplitter

text = "- harbour\n  - pier\n" + "".join(f"    - berth {n} for boats\n" for n in range(40))
chunks = MarkdownSplitter(200, overlap=60).chunk_indices(text)
for start, chunk in chunks[:5]:
    print(f"{start:4} to {start + len(chunk):4}: {chunk[:30]!r} …")
(_, first), (second_at, second), (inner_at, inner), *_ = chunks
assert (first, second) == ("- harbour", "- pier"), "CHANGED: outer items are no chunks of their own"
assert second_at + len(second) <= inner_at, "CHANGED: chunks of different levels overlap"
assert inner.startswith("- berth 0"), "CHANGED: the indentation is kept"
print("as described")
PY
