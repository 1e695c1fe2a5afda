"""Test servers in Docker, through testcontainers."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from support.servers.guard import guard
from support.servers.sources import Unavailable

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

ANSWER_SECONDS = 15
_PULL_SECONDS = 900
PING = "import docker; docker.from_env(timeout=5).ping()"
_PULL = """
import docker, sys
images = docker.from_env(timeout=60).images
try:
    images.get(sys.argv[1])
except docker.errors.ImageNotFound:
    images.pull(sys.argv[1])
"""


class Container:
    """A container with fixed ports, killed and started as one; the other kind of ``Machine``."""

    def __init__(
        self,
        variable: str,
        image: str,
        make: Callable[[str], DockerContainer],
        ports: Mapping[int, int],
        environment: Mapping[str, str] = {},
        fleeting: Sequence[str] = (),
    ) -> None:
        """``make`` makes testcontainers' container of an image; ``variable`` may name another than ``image``.

        ``ports`` are the container's with the host's. Folders that are ``fleeting`` are empty at each start.

        Raises ``Unavailable`` where Docker does not answer at once or has no such image.
        """
        image = os.environ.get(variable) or image
        if refusal := refusal_of(PING, "", ANSWER_SECONDS) or refusal_of(_PULL, image, _PULL_SECONDS):
            raise Unavailable(refusal)
        self._container = _made(make, image)
        for inside, outside in ports.items():
            self._container.with_bind_ports(inside, outside)
        self._container.with_envs(**environment)
        for folder in fleeting:
            self._container.with_tmpfs_mount(folder, "size=16m")
        self._id = ""

    @property
    def host(self) -> str:
        """The address at which the ports are open."""
        return self._container.get_docker_client().host()

    def start(self) -> None:
        if self._id:
            self._container.get_wrapped_container().start()
            return
        try:
            self._container.start()
        except Exception as error:  # the engine's, the transport's or testcontainers' own: all say the same
            raise Unavailable(f"the container did not start: {error}") from error
        self._id = self._container.get_container_id()
        guard().watch("container", self._id)

    def running(self) -> bool:
        self._container.reload()
        return bool(self._container.status == "running")

    def kill(self) -> None:
        if self._id and self.running():
            self._container.get_wrapped_container().kill()
            self._container.get_wrapped_container().wait()

    def close(self) -> None:
        self._container.stop()
        if self._id:
            guard().forget("container", self._id)

    def log(self) -> str:
        return b"".join(self._container.get_logs()).decode("utf-8", "replace")


@functools.cache
def refusal_of(script: str, image: str, within: float) -> str | None:
    """Ask Docker, once a run; return why it will not.

    In a process of its own, for a socket may hang, and the client leaves sockets open when it fails, which fails
    whatever test runs when they are collected.
    """
    command = [sys.executable, "-c", script, image]
    try:
        asked = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=within, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {within:g} s"
    return _last_error(asked.stderr) if asked.returncode != 0 else None


def _last_error(output: str) -> str:
    lines = [line for line in output.splitlines() if "Error" in line or "Exception" in line]
    # A socket that is closed late reports itself after the error.
    lines = [line for line in lines if not line.startswith(("Exception ignored", "ResourceWarning"))]
    return lines[-1] if lines else output[-500:] or "Docker did not answer"


def _made(make: Callable[[str], DockerContainer], image: str) -> DockerContainer:
    # Its own reaper is one image more to pull and may not run everywhere; the guard does its work.
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
    from testcontainers.core.waiting_utils import WaitStrategy, WaitStrategyTarget

    class NoWait(WaitStrategy):
        """``ServerProcess`` waits for it, and sees when it has ended instead."""

        def wait_until_ready(self, container: WaitStrategyTarget) -> None:
            pass

    return make(image).waiting_for(NoWait())
