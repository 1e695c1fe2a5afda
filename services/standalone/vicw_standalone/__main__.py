"""The ``vicw`` command. ``vicw hook`` starts without what the other commands are made of: an agent waits for it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command."""
    if sys.argv[1:2] == ["hook"]:
        from vicw_standalone.agent_hooks.hook import run

        run(sys.argv[2:])
        return
    from vicw_standalone.cli import main as run_command

    run_command()


if __name__ == "__main__":
    main()
