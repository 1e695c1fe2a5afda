"""Time the way from nothing to the first answer: empty environment, installation, server, the README's requests.

Usage: python scripts/first_answer.py [--find-links dist] [--json FILE]   by pip: cache empty, filled, --no-compile;
                                                                          by uv: cache empty, filled
       python scripts/first_answer.py --container python:3.12-slim        the same in a container, by Docker
       python scripts/first_answer.py --checkout                          `make serve` in a fresh clone

Prints the seconds of each step and the size on disk. Needs Python 3.12 and a package index, nothing else; with
``--find-links`` a folder of wheels, which ``make dist`` makes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_REQUEST = re.compile(r"curl -s localhost:8080(/\w+) .*?-d '(.*?)'", re.DOTALL)
_GIVE_UP_SECONDS = 600.0
_POLL_SECONDS = 0.01
UNCOMPILED = "pip --no-compile"
BY_PIP = ("pip, empty cache", "pip, filled cache", UNCOMPILED)
"""The last has a filled cache, too; the first start compiles the third of the modules that it needs."""
BY_UV = ("uv, empty cache", "uv, filled cache")
"""uv compiles nothing either, unless it is told to."""
_INSIDE = "/vicw/scripts/first_answer.py"
"""Where a container has this script."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the start of a run until each step was done; sizes in MiB, without pip itself.

    ``processor``: seconds of processor time that the installation took.
    """

    cache: str
    installed: float
    processor: float
    alive: float
    first_answer: float
    answered_by: str
    ready: float
    answer_with_vectors: float
    size_mib: float
    bytecode_mib: float


def readme_requests(readme: Path) -> list[tuple[str, bytes]]:
    """Return the first requests of the README up to its first question, as paths and bodies."""
    calls = [(path, body.encode()) for path, body in _REQUEST.findall(readme.read_text("utf-8"))]
    return calls[: [path for path, _ in calls].index("/retrieve") + 1]


def free_port() -> int:
    """Return a port that is free on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def call(url: str, body: bytes | None = None) -> dict[str, object] | None:
    """Return the JSON of an answer; None while nothing answers, or not yet well."""
    headers = {"content-type": "application/json"} if body else {}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - of this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            content: dict[str, object] = json.loads(answer.read() or b"{}")
            return content
    except (OSError, ValueError):
        return None


def wait_for(url: str, server: subprocess.Popen[bytes], body: bytes | None = None) -> dict[str, object]:
    """Return the first good answer."""
    deadline = time.monotonic() + _GIVE_UP_SECONDS
    while (answer := call(url, body)) is None:
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{url} never answered; the server's exit code is {server.poll()}")
        time.sleep(_POLL_SECONDS)
    return answer


def processor_seconds() -> float:
    """Return the processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def size_of(folder: Path) -> tuple[float, float]:
    """Return the MiB of what was installed there, and of its compiled bytecode; pip is not counted."""
    total = compiled = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            file = Path(parent) / name
            if file.is_symlink() or "/pip" in str(file.relative_to(folder)):
                continue
            size = file.stat().st_size
            total += size
            compiled += size if name.endswith(".pyc") else 0
    return total / 2**20, compiled / 2**20


def run_once(cache: str, work: Path, install: list[list[str]], serve: list[str], options: argparse.Namespace) -> Timing:
    """Install into ``work``, serve, and ask; stop the server."""
    requests = readme_requests(options.readme)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    home = work / "home"
    home.mkdir()
    environment = os.environ | {"VICW_DATA_DIR": str(home / "data"), "PYTHONUNBUFFERED": "1"}
    environment |= {"UV_CACHE_DIR": options.cache, "PIP_CACHE_DIR": options.cache, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    began, spent = time.monotonic(), processor_seconds()

    def passed() -> float:
        return round(time.monotonic() - began, 2)

    for command in install:
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    installed, processor = passed(), round(processor_seconds() - spent, 2)
    command = [part.format(port=port) for part in serve]
    with (
        (work / "serve.log").open("wb") as log,
        subprocess.Popen(command, cwd=work, env=environment, stdout=log, stderr=log, start_new_session=True) as server,
    ):
        try:
            wait_for(f"{url}/healthz", server)
            alive = passed()
            for path, body in requests[:-1]:
                wait_for(url + path, server, body)
            path, question = requests[-1]
            answer = wait_for(url + path, server, question)
            while not answer["results"]:
                answer = wait_for(url + path, server, question)
            first_answer = passed()
            by = "words" if "dense" in str(answer.get("degraded")) else "words and vectors"
            wait_for(f"{url}/readyz", server)
            ready = passed()
            while "dense" in str(answer.get("degraded")):
                answer = wait_for(url + path, server, question)
            with_vectors = passed()
        finally:
            os.killpg(server.pid, signal.SIGTERM)
    size, bytecode = size_of(work / "venv" if (work / "venv").exists() else work / "vicw" / ".venv")
    return Timing(
        cache, installed, processor, alive, first_answer, by, ready, with_vectors, round(size), round(bytecode)
    )


def own_tools(folder: Path, pip: str) -> Path:
    """Install uv and pip into an environment of their own, which is not timed; return its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", folder / "tools"], check=True)
    programs = folder / "tools" / "bin"
    wanted = ["uv", *([f"pip=={pip}"] if pip else [])]
    python = programs / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True)
    for name in ("pip", "uv"):
        print(" ".join(subprocess.check_output([programs / name, "--version"], text=True).split()[:2]))
    return programs


def print_table(timings: list[Timing]) -> None:
    """Print a row for each step, a column for each run."""
    rows = {
        "installed": "installed after",
        "processor": "  processor time of it",
        "alive": "/healthz answers after",
        "first_answer": "first answer after",
        "answered_by": "  it came from",
        "ready": "/readyz answers after",
        "answer_with_vectors": "answer with vectors after",
        "size_mib": "size, MiB",
        "bytecode_mib": "  of it bytecode",
    }
    print(f"{'seconds':<28}" + "".join(f"{one.cache:>20}" for one in timings))
    for field, title in rows.items():
        print(f"{title:<28}" + "".join(f"{getattr(one, field):>20}" for one in timings))


def in_container(image: str, options: argparse.Namespace) -> int:
    """Run this script in a container that has Python and nothing else."""
    mounts = [f"{Path(__file__).resolve()}:{_INSIDE}:ro", f"{options.readme.resolve()}:/README.md:ro"]
    arguments = ["--readme", "/README.md", "--requirement", options.requirement, "--pip", options.pip]
    if options.find_links:
        mounts.append(f"{Path(options.find_links).resolve()}:/dist:ro")
        arguments += ["--find-links", "/dist"]
    docker = ["docker", "run", "--rm", *(part for mount in mounts for part in ("--volume", mount))]
    return subprocess.run([*docker, image, "python", _INSIDE, *arguments], check=False).returncode


def main() -> int:
    """Time both runs and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--find-links", help="folder of wheels that the index does not have")
    parser.add_argument("--requirement", default="vicw", help="what pip installs (vicw)")
    parser.add_argument("--pip", default="", metavar="VERSION", help="with this pip instead of Python's own")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md", help="where the requests stand")
    parser.add_argument("--container", metavar="IMAGE", help="do it in a container of this image")
    parser.add_argument("--checkout", action="store_true", help="time `make serve` in a copy of this checkout instead")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    if options.container:
        return in_container(options.container, options)
    timings = []
    with tempfile.TemporaryDirectory(prefix="vicw-first-answer-") as folder:
        options.cache = str(Path(folder) / "cache")
        runs = BY_UV if options.checkout else BY_PIP + BY_UV
        tools = own_tools(Path(folder), options.pip) if not options.checkout else Path()
        for number, cache in enumerate(runs):
            work = Path(folder) / str(number)
            work.mkdir()
            if options.checkout:
                install = [["git", "clone", "--quiet", str(ROOT), "vicw"], ["make", "-C", "vicw", "--silent", "setup"]]
                serve = ["make", "-C", "vicw", "--silent", "serve", "PORT={port}"]
            else:
                links = ["--find-links", str(Path(options.find_links).resolve())] if options.find_links else []
                what = ["--quiet", *links, options.requirement]
                if cache in BY_UV:
                    install = [[str(tools / "uv"), "venv", "--quiet", "--python", sys.executable, "venv"]]
                    install += [[str(tools / "uv"), "pip", "install", "--python", "venv/bin/python", *what]]
                else:
                    only = ["--no-compile"] if cache == UNCOMPILED else []
                    install = [[sys.executable, "-m", "venv", "venv"]]
                    install.append([str(tools / "pip"), "--python", "venv/bin/python", "install", *only, *what])
                serve = ["venv/bin/vicw", "serve", "--port", "{port}"]
            timings.append(run_once(cache, work, install, serve, options))
    print_table(timings)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in timings], indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
