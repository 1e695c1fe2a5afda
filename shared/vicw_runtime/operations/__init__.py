"""Operations: what an operator does to a memory. One definition serves ``POST /admin/NAME`` and a command alike.

A feature defines its operations in its ``api.py`` and their commands in its ``cli.py``. ``router`` serves those of
a process; ``command`` runs one through the server that has the memory open, or over stores that it opens itself.
"""

from vicw_runtime.operations.memory import Memory, MemorySettings, Stores
from vicw_runtime.operations.operation import NoItem, Opening, Operation, Report

__all__ = ["Memory", "MemorySettings", "NoItem", "Opening", "Operation", "Report", "Stores"]
