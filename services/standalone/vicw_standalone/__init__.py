"""VICW in one process: the ``vicw`` command, and the services wired to the embedded stores."""
