#!/usr/bin/env bash
# huggingface-hub 2.4.0, `hf_hub_download`.
#
# Expected: a download that was interrupted continues where it stopped, as `http_get` does inside one process (it sends
# `Range`), and as the folder's `*.incomplete` file suggests.
# Seen: the next process asks for the whole file again, without `Range`. Each call writes to a new
# `HASH.RANDOM.incomplete`; the half of the killed process stays in the cache and is never read or removed.
# For a model of some hundred megabytes on a bad line, each attempt starts at byte 0 and leaves its half behind.
#
# Needs python3 and PyPI. Serves the file itself, on loopback. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check huggingface-hub==2.4.0

cat >"$work/server.py" <<'PY'
"""Serve one file like a hub; the first answer stops half way and keeps the line open."""
import http.server, pathlib, sys, threading, time

BODY, LOG = bytes(range(256)) * 160_000, pathlib.Path(sys.argv[1])
first = threading.Event()


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self, with_body=False):
        begin = 0
        if "/resolve/" not in self.path:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if with_body:
            asked = self.headers.get("Range")
            with LOG.open("a") as log:
                log.write(f"GET range={asked}\n")
            begin = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
        self.send_response(206 if begin else 200)
        self.send_header("ETag", '"0123456789abcdef"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(BODY) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(BODY) - 1}/{len(BODY)}")
        self.end_headers()
        if with_body and not first.is_set():
            first.set()
            self.wfile.write(BODY[: len(BODY) // 2])
            time.sleep(60)
        elif with_body:
            self.wfile.write(BODY[begin:])

    def do_GET(self):
        self.do_HEAD(with_body=True)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
server.daemon_threads = True
pathlib.Path(sys.argv[2]).write_text(str(server.server_port))
server.serve_forever()
PY
python3 "$work/server.py" "$work/log" "$work/port" 2>/dev/null &
until [[ -s $work/port ]]; do sleep 0.1; done
export HF_ENDPOINT=http://127.0.0.1:$(<"$work/port") HF_HOME=$work/cache HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_PROGRESS_BARS=1
download=("$work/venv/bin/python" -c 'from huggingface_hub import hf_hub_download; hf_hub_download("acme/model", "weights.bin")')

"${download[@]}" &
client=$!
mkdir -p "$work/cache"
half() { find "$work/cache" -name '*.incomplete' -size +1M | grep -c . || true; }
for _ in $(seq 900); do [[ $(half) == 1 ]] && break; sleep 0.1; done
kill -9 $client
wait $client 2>/dev/null || true
echo "halves after the kill: $(half)"
"${download[@]}"
echo "requests:"
cat "$work/log"
echo "halves left after the second, complete download: $(half)"

[[ $(grep -c 'range=None' "$work/log") == 2 && $(grep -c . "$work/log") == 2 ]] || { echo "CHANGED: it asks for a range now"; exit 1; }
[[ $(half) == 1 ]] || { echo "CHANGED: the half of the killed process is not left behind"; exit 1; }
echo "as described"
