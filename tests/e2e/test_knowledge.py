"""``vicw ingest --knowledge``: a folder followed through what happens to folders, with the real server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.processes.server import VICW, Server, environment, eventually, require_clean, temporary_directory
from vicw_client import VicwClient

pytestmark = pytest.mark.process
REPO = Path(__file__).parents[1] / "support" / "stories" / "repo"
type Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def server(models_dir: Path) -> Iterator[Server]:
    with temporary_directory() as directory:
        running = Server(directory / "data", models_dir)
        running.start()
        yield running
        assert running.stop(within=20) == 0
        require_clean(running)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A copy of the small repository, under a name, and so a context, of the test's own."""
    return Path(shutil.copytree(REPO, tmp_path / tmp_path.name))


@pytest.fixture
def command(server: Server, models_dir: Path, tmp_path: Path) -> list[str]:
    return [str(VICW), "ingest", "--knowledge", "--url", server.url]


@pytest.fixture
def variables(models_dir: Path, tmp_path: Path) -> dict[str, str]:
    return environment(models_dir, XDG_STATE_HOME=str(tmp_path / "state"))


@pytest.fixture
def run(command: list[str], variables: dict[str, str]) -> Run:
    def ingest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
        arguments = [*command, str(folder), *options]
        return subprocess.run(arguments, capture_output=True, text=True, env=variables, timeout=120, check=False)

    return ingest


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return the table of what became of a folder, without its zeros."""
    rows = (line.rsplit(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("  "))
    return {name.strip(): int(count) for name, count in rows if count != "0"}


def paths(server: Server, folder: Path) -> dict[str, str]:
    """Return the uids of the pages that the server has, by path."""
    with VicwClient(server.url) as client:
        return {page.path: page.uid for page in client.knowledge(folder.name, folder.name).pages}


def test_ingest_knowledge_stores_a_folder_and_reports_broken_links(server: Server, repo: Path, run: Run) -> None:
    done = run(repo)
    assert done.returncode == 0, done.stderr
    assert counts(done) == {"created": 15, "broken links": 4}
    assert "docs/guides/getting-started.md:9: manual.md does not exist" in done.stderr
    said = "docs/guides/getting-started.md:9: [[notes]] may mean several pages: docs/adr/notes.md, docs/policies/notes"
    assert said in done.stderr
    assert len(paths(server, repo)) == 15

    (repo / "docs/images").mkdir()
    (repo / "docs/images/berths.svg").write_text("<svg/>")
    again = run(repo)
    assert counts(again) == {"unchanged": 15, "files skipped": 1, "broken links": 3}
    assert "berths.svg does not exist" not in again.stderr, "a picture that is there is no broken link"


def test_ingest_knowledge_follows_changed_moved_and_deleted_pages(server: Server, repo: Path, run: Run) -> None:
    run(repo)
    before = paths(server, repo)
    (repo / "docs/policies").rename(repo / "docs/rules")
    (repo / "docs/guides/on-call.md").write_text("# On call\n\nThe pager rests on Sundays.\n")
    (repo / "docs/glossary.md").unlink()
    done = run(repo)
    moved = {"updated": 3, "of these moved": 2, "unchanged": 11, "retracted": 1}
    assert counts(done) == moved | {"broken links": 6}
    after = paths(server, repo)
    assert after["docs/rules/deployment.md"] == before["docs/policies/deployment.md"], "a page that moved is that page"
    assert after["docs/guides/on-call.md"] == before["docs/guides/on-call.md"]
    assert "docs/glossary.md" not in after
    assert "docs/index.md:8: [[Berth allocator]] does not exist" in done.stderr
    with VicwClient(server.url) as client:
        found = client.retrieve(query="when does the pager rest", context=repo.name, limit=1).results
        assert [result.id for result in found] == [f"{repo.name}/docs/guides/on-call.md"]
        gone = client.graph.find(name="Berth allocator", context=repo.name).nodes
        assert [node for node in gone if node.subtype == "page"] == []


def test_unreadable_files_are_named_and_the_other_pages_stored(server: Server, repo: Path, run: Run) -> None:
    run(repo)
    (repo / "loop").symlink_to("loop")
    (repo / "docs/up").symlink_to("..")
    (repo / "nowhere.md").symlink_to("gone.md")
    (repo / "logo.bin").write_bytes(b"\x00\x01")
    (repo / "latin.md").write_bytes(b"caf\xe9")
    (repo / "huge.md").write_bytes(b"x" * (9 << 20))
    (repo / "long.md").write_text("word " * 300_000)
    (repo / "README.md").write_bytes(b"\xff\xff")
    os.mkfifo(repo / "pipe.md")
    (repo / "new.md").write_text("# New\n\nIt goes in.\n")
    done = run(repo)
    assert done.returncode == 1
    assert counts(done)["created"] == 1
    for name in ("loop", "nowhere.md", "latin.md", "huge.md", "long.md", "README.md"):
        assert f"refused {repo}/{name}: " in done.stderr or f"refused {repo}/{name}:1: " in done.stderr, name
    for name in ("docs/up", "logo.bin", "pipe.md"):
        assert f"skipped {repo}/{name}: " in done.stderr, name
    known = paths(server, repo)
    assert "new.md" in known
    assert "README.md" in known, "what cannot be read now is not gone"
    assert "retracted" not in counts(done)


def test_an_emptied_folder_is_refused_without_allow_empty(server: Server, repo: Path, run: Run) -> None:
    run(repo)
    shutil.rmtree(repo)
    repo.mkdir()
    done = run(repo)
    assert (done.returncode, "--allow-empty" in done.stderr) == (2, True)
    assert len(paths(server, repo)) == 15
    assert counts(run(repo, "--allow-empty")) == {"retracted": 15}
    assert paths(server, repo) == {}


def test_another_folder_of_the_same_name_is_refused(server: Server, repo: Path, run: Run, tmp_path: Path) -> None:
    run(repo)
    other = Path(shutil.copytree(REPO, tmp_path / "other" / repo.name))
    done = run(other)
    assert (done.returncode, "--folder" in done.stderr) == (2, True)
    assert run(other, "--folder", repo.name).returncode == 0


def test_a_killed_knowledge_ingest_is_resumed(
    server: Server, tmp_path: Path, command: list[str], variables: dict[str, str], run: Run
) -> None:
    folder = tmp_path / tmp_path.name
    folder.mkdir()
    for number in range(300):
        (folder / f"p{number:03}.md").write_text(f"# Page {number}\n\nSee [[Page {(number + 1) % 300}]].\n")
    with subprocess.Popen(
        [*command, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables
    ) as one:
        eventually(lambda: len(paths(server, folder)), lambda count: 0 < count < 300, 60, "the first pages")
        one.kill()
    stored = len(paths(server, folder))
    assert stored < 300
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert 0 < counts(done)["unchanged"] < 300
    assert "broken links" not in counts(done)
    assert len(paths(server, folder)) == 300


def test_ingest_knowledge_watch_follows_changes_until_ctrl_c(
    server: Server, repo: Path, command: list[str], variables: dict[str, str]
) -> None:
    arguments = [*command, str(repo), "--watch", "--every", "0.2"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
    ) as process:
        eventually(lambda: len(paths(server, repo)), lambda count: count == 15, 60, "all pages")
        (repo / "docs/new.md").write_text("# New\n\n[[Nobody]]\n")
        (repo / "docs/glossary.md").unlink()
        known = eventually(lambda: paths(server, repo), lambda there: "docs/new.md" in there, 30, "the new page")
        assert "docs/glossary.md" not in known
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert "stopped watching" in told
    assert "docs/new.md:3: [[Nobody]] does not exist" in told
    assert said.count("created") == 2, "it tells of what has changed, and of nothing else"
