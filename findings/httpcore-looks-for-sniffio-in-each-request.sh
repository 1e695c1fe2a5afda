#!/usr/bin/env bash
# httpx 0.28.1 over httpcore 1.0.9 with anyio 4.12.0, asynchronous requests.
#
# Expected: what a package can import is found out once, when it is loaded.
# Seen: httpcore imports sniffio inside each event and lock of a request. anyio used to bring sniffio along and no longer
# does, so that a fresh installation of httpx has none, and Python does not remember that an import failed: each request
# on an open connection searches every folder of sys.path again, several times. The longer sys.path is, the dearer; with
# sniffio installed beside it, nothing is searched.
#
# Needs python3 (3.10 to 3.13) and PyPI. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip() { "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }
pip httpx==0.28.1 httpcore==1.0.9 anyio==4.12.0

cat >"$work/requests.py" <<'PY'
"""Count the searches for sniffio in requests on one open connection, and the time that they take."""
import asyncio, statistics, sys, time

import httpx

REQUESTS = 300
searches = 0


class Counter:
    """Sees every import that is not answered from sys.modules, and answers none."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        global searches
        searches += name == "sniffio"


async def answer(reader, writer):
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def main():
    global searches
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = "http://127.0.0.1:%d/" % server.sockets[0].getsockname()[1]
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(url)
        sys.meta_path.insert(0, Counter)
        times = []
        for _ in range(REQUESTS):
            began = time.perf_counter()
            await client.get(url)
            times.append(time.perf_counter() - began)
    print("%.1f searches a request, median %.2f ms" % (searches / REQUESTS, statistics.median(times) * 1000))
    return searches / REQUESTS


each = 0.0
try:
    each = asyncio.run(main())
except asyncio.IncompleteReadError:
    pass
sys.exit(not (each >= 2 if sys.argv[1] == "without" else each == 0))
PY
"$work/venv/bin/python" "$work/requests.py" without 2>/dev/null || { echo "the behaviour has changed" >&2; exit 1; }
pip sniffio==1.3.1
"$work/venv/bin/python" "$work/requests.py" with 2>/dev/null || { echo "sniffio no longer helps" >&2; exit 1; }
echo "as described: httpcore 1.0.9 searches for sniffio in each request where it is not installed"
