#!/usr/bin/env bash
# huggingface-hub 2.4.0, any request: `get_hf_file_metadata`, `hf_hub_download` …
#
# Expected: asking for one file's metadata is one request, to the file's address.
# Seen: to build its `User-Agent` the client first fetches `ENDPOINT/api/agent-harnesses`, a list of environment variables
# by which it recognises AI agents, and appends `agent/NAME` if one matches. An own mirror or proxy sees a path that
# no repository has; one that swallows it delays the first request of each process by the fetch's time limit of 3 s
# (it is cached for a day only when it succeeds). With `HF_HUB_DISABLE_TELEMETRY=1` there is
# neither the fetch nor the name.
#
# Needs python3 and PyPI. Serves everything itself, on loopback. Fails if the behaviour changes.
set -euo pipefail
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check huggingface-hub==2.4.0

cat >"$work/server.py" <<'PY'
"""Log each request; know one file; let the list of harnesses wait as a proxy does that drops what it does not know."""
import http.server, json, pathlib, sys, time

LOG, LISTED = pathlib.Path(sys.argv[1]), {"standardEnvVars": ["AI_AGENT"], "harnesses": {"my-agent": {}}}


class Hub(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        with LOG.open("a") as log:
            log.write(f"{self.command} {self.path} agent={'agent/' in (self.headers.get('User-Agent') or '')}\n")
        body = b""
        if self.path == "/api/agent-harnesses":
            if (LOG.parent / "slow").exists():
                time.sleep(6)
            body = json.dumps(LISTED).encode()
        self.send_response(200)
        self.send_header("ETag", '"0123456789abcdef"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(body) or 10))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_GET = do_HEAD

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
server.daemon_threads = True
pathlib.Path(sys.argv[2]).write_text(str(server.server_port))
server.serve_forever()
PY
python3 "$work/server.py" "$work/log" "$work/port" 2>/dev/null &
until [[ -s $work/port ]]; do sleep 0.1; done
export HF_ENDPOINT=http://127.0.0.1:$(<"$work/port") HF_HUB_DISABLE_XET=1
ask() { # NAME [VARIABLE=VALUE ...]: the requests and the seconds of one metadata request in a new cache
  : >"$work/log"
  echo "== $1"
  env "${@:2}" HF_HOME="$work/cache-$RANDOM" "$work/venv/bin/python" -c '
import time
from huggingface_hub import get_hf_file_metadata, hf_hub_url
begun = time.perf_counter()
get_hf_file_metadata(hf_hub_url("acme/model", "weights.bin"))
print(f"{time.perf_counter() - begun:.1f} s")' | tee "$work/seconds"
  cat "$work/log"
}
asked() { grep -c '/api/agent-harnesses' "$work/log" || true; }

ask "one metadata request"
[[ $(asked) == 1 ]] || { echo "CHANGED: no list is fetched"; exit 1; }
ask "the same under an agent" AI_AGENT=my-agent
grep -q 'HEAD .*agent=True' "$work/log" || { echo "CHANGED: the header names no agent"; exit 1; }
ask "the same without telemetry" AI_AGENT=my-agent HF_HUB_DISABLE_TELEMETRY=1
[[ $(asked) == 0 ]] || { echo "CHANGED: the list is fetched without telemetry, too"; exit 1; }
grep -q 'HEAD .*agent=False' "$work/log" || { echo "CHANGED: the header names the agent without telemetry, too"; exit 1; }
touch "$work/slow"
ask "the list is not answered"
python3 -c 'import sys; sys.exit(not float(open(sys.argv[1]).read().split()[0]) >= 2.9)' "$work/seconds" ||
  { echo "CHANGED: nothing waits for the list"; exit 1; }
echo "as described"
