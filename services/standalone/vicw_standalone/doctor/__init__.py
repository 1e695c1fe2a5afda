"""Checks of the machine, the settings and the stored data, for ``vicw doctor``."""
