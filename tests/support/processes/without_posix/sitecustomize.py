"""Makes Python a poorer system: without the modules, calls and sockets that only POSIX has. Put its folder first in
PYTHONPATH; then every process of a test has no more.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import os
import signal
import socket
import sys
import types
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "uvloop")
CALLS = (
    *("fork", "sync", "pread", "pwrite", "fchmod", "getpriority", "setpriority", "killpg", "setsid"),
    *("sched_getaffinity", "sched_setaffinity", "O_DIRECTORY", "O_NOFOLLOW"),
)


class _Refuser(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def _locking(file: int, mode: int, size: int) -> None:
    assert (mode, size) == (2, 1)
    assert os.lseek(file, 0, os.SEEK_CUR) >= 1 << 20, "what is locked cannot be read by others"
    flock(file, fcntl_flags)


def _refuse_handler(self: object, number: int, callback: object, *args: object) -> None:
    raise NotImplementedError


flock, fcntl_flags = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
windows = types.ModuleType("msvcrt")
windows.__dict__.update(locking=_locking, LK_NBLCK=2)
sys.modules["msvcrt"] = windows
sys.meta_path.insert(0, _Refuser())
for name in MODULES:
    sys.modules.pop(name, None)
for name in CALLS:
    delattr(os, name)
socket.socketpair = functools.partial(socket.socketpair, socket.AF_UNIX)  # asyncio wakes its loop by one
del socket.AF_UNIX
asyncio.SelectorEventLoop.add_signal_handler = _refuse_handler  # type: ignore[method-assign, assignment]
del signal.SIGKILL
