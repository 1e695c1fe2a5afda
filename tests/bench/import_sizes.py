"""What large imports cost: ``python tests/bench/import_sizes.py mbox|chatgpt|vault [--size N] [--command VICW]``.

``mbox`` (size in MB, 5000) and ``chatgpt`` (MB, 47) are read with ``--dry-run``; of the mailbox a second run then
stores into a server until it has 2,000 mails, and is stopped. ``vault`` (pages, 1700) is stored as knowledge in a
server without vectors, and once more unchanged. Prints seconds, processor seconds and memory of the command.
``--command`` runs another build's ``vicw`` on the same files, which are made from a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

_DEFAULT = {"mbox": 5000, "chatgpt": 47, "vault": 1700}
_STORED_MAILS = 2000
_SYLLABLES = [a + b for a in ("ba", "cor", "dal", "fen", "gol", "hur", "jin", "kel") for b in ("an", "el", "is", "or")]
_START = datetime(2019, 1, 1, 8, tzinfo=UTC)


def words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choice(_SYLLABLES) + draw.choice(_SYLLABLES) for _ in range(count))


def sentences(draw: random.Random, count: int) -> str:
    return " ".join(words(draw, draw.randint(6, 14)).capitalize() + "." for _ in range(count))


def write_mbox(path: Path, megabytes: int) -> None:
    """Write threads of one to six mails of three people, every fifth mail with an attachment of 20 KB."""
    draw, number = random.Random(1), 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while file.tell() < megabytes * 1_000_000:
            subject, before = words(draw, 4), ""
            for _ in range(draw.randint(1, 6)):
                at = _START + timedelta(minutes=11 * number)
                name = draw.choice(("Ana", "Ben", "Mara"))
                address = f"{name.lower()}@example.org"
                head = f"From {address} {at:%a %b %d %H:%M:%S %Y}\nFrom: {name} <{address}>\n"
                head += f"To: team@example.org\nSubject: {subject}\nDate: {at:%a, %d %b %Y %H:%M:%S +0000}\n"
                head += f"Message-ID: <m{number}@example.org>\n{before}MIME-Version: 1.0\n"
                body = "\n\n".join(sentences(draw, draw.randint(2, 5)) for _ in range(draw.randint(1, 4)))
                file.write(head + _content(draw, body, attached=number % 5 == 0))
                before = f"In-Reply-To: <m{number}@example.org>\nReferences: <m{number}@example.org>\n"
                number += 1


def _content(draw: random.Random, body: str, *, attached: bool) -> str:
    text = f"Content-Type: text/plain; charset=utf-8\n\n{body}\n\n"
    if not attached:
        return text
    data = "\n".join(draw.randbytes(57).hex()[:76] for _ in range(270))
    part = f"Content-Type: application/pdf; name=plan.pdf\nContent-Transfer-Encoding: base64\n\n{data}\n"
    return f"Content-Type: multipart/mixed; boundary=bb\n\n--bb\n{text}--bb\n{part}--bb--\n\n"


def write_chatgpt(path: Path, megabytes: int) -> None:
    draw, written = random.Random(2), 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < megabytes * 1_000_000:
            text = ("," if written else "") + json.dumps(_conversation(draw, written))
            file.write(text)
            written += len(text)
        file.write("]")


def _conversation(draw: random.Random, key: int) -> dict[str, object]:
    mapping: dict[str, object] = {f"{key}-root": {"id": f"{key}-root", "message": None, "parent": None, "children": []}}
    parent, at = f"{key}-root", _START.timestamp() + key
    for number in range(draw.randint(4, 30)):
        node = f"{key}-{number}"
        message = {
            "id": node,
            "author": {"role": "assistant" if number % 2 else "user"},
            "create_time": at + number,
            "content": {"content_type": "text", "parts": [sentences(draw, draw.randint(2, 20))]},
            "status": "finished_successfully",
            "metadata": {},
        }
        mapping[node] = {"id": node, "message": message, "parent": parent, "children": []}
        parent = node
    title = words(draw, 3)
    return {
        "id": f"c{key}",
        "title": title,
        "create_time": at,
        "update_time": at,
        "mapping": mapping,
        "current_node": parent,
    }


def write_vault(folder: Path, pages: int) -> None:
    draw = random.Random(3)
    names = [f"{words(draw, 2)} {number}" for number in range(pages)]
    for number, name in enumerate(names):
        place = folder / f"area {number % 17}"
        place.mkdir(parents=True, exist_ok=True)
        sections = [f"# {name}", f"tags: #topic/{number % 23}"]
        for _ in range(draw.randint(2, 6)):
            links = " ".join(f"[[{draw.choice(names)}]]" for _ in range(draw.randint(0, 3)))
            sections += [f"## {words(draw, 3)}", f"{sentences(draw, draw.randint(2, 8))} {links}"]
        (place / f"{name}.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def run(command: list[str], environment: dict[str, str], until: object = None) -> tuple[int, float, float, float, str]:
    """Return exit code, seconds, processor seconds, memory in MiB and the end of the output of a command."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        if callable(until):
            until()
            process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        told = output.read().decode("utf-8", "replace")
    taken = time.perf_counter() - begun
    return process.returncode, taken, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, told[-1500:]


@contextmanager
def serving(vicw: str, folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "server.log").open("wb")
    command = [vicw, "serve", "--data-dir", str(folder / "data"), "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                if httpx.get(f"{url}/healthz", trust_env=False).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(60)
        log.close()


def cpu_of(pid: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def items(url: str) -> int:
    answer = httpx.get(f"{url}/contexts", trust_env=False, timeout=60).raise_for_status().json()
    return sum(context["items"] for context in answer["contexts"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(_DEFAULT))
    parser.add_argument("--size", type=int)
    parser.add_argument("--command", default=str(Path(sys.executable).with_name("vicw")))
    options = parser.parse_args()
    size = options.size or _DEFAULT[options.what]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        environment = {**os.environ, "VICW_EMBEDDER": "none", "HOME": name}
        if options.what == "vault":
            vault(options.command, folder, size, environment)
        else:
            large_file(options.what, options.command, folder, size, environment)


def vault(vicw: str, folder: Path, pages: int, environment: dict[str, str]) -> None:
    write_vault(folder / "vault", pages)
    with serving(vicw, folder, environment) as (url, pid):
        for what in ("cold", "unchanged"):
            command = [vicw, "ingest", str(folder / "vault"), "--knowledge", "--context", "vault", "--url", url]
            before = cpu_of(pid)
            code, taken, cpu, memory, told = run(command, environment)
            print(f"{what}: exit {code}, {taken:.1f} s ({pages / taken:.0f} pages/s), CPU {cpu:.1f} s, ", end="")
            print(f"of the server {cpu_of(pid) - before:.1f} s, {memory:.0f} MiB")
            if code:
                print(told)


def large_file(what: str, vicw: str, folder: Path, size: int, environment: dict[str, str]) -> None:
    path = folder / ("mail.mbox" if what == "mbox" else "conversations.json")
    {"mbox": write_mbox, "chatgpt": write_chatgpt}[what](path, size)
    megabytes = path.stat().st_size / 1e6
    code, taken, cpu, memory, told = run([vicw, "ingest", str(path), "--dry-run"], environment)
    print(f"dry run of {megabytes:.0f} MB: exit {code}, {taken:.0f} s ({megabytes / taken:.1f} MB/s), ", end="")
    print(f"CPU {cpu:.0f} s ({megabytes / cpu:.1f} MB/s), {memory:.0f} MiB")
    print("  " + re.sub(r"\s*\n", "\n  ", told[-400:]))
    if what == "mbox":
        with serving(vicw, folder, environment) as (url, _):

            def until() -> None:
                while items(url) < _STORED_MAILS:
                    time.sleep(0.2)

            command = [vicw, "ingest", str(path), "--context", "mail", "--no-wait", "--url", url]
            code, taken, cpu, memory, told = run(command, environment, until)
            print(f"stored until stopped: {items(url)}, exit {code}, {taken:.1f} s, CPU {cpu:.1f} s, {memory:.0f} MiB")
            print("  " + re.sub(r"\s*\n", "\n  ", told[-400:]))


if __name__ == "__main__":
    main()
