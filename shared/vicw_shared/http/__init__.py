"""What the HTTP faces of all services share: bodies, problems, probes, metrics, request ids."""

from vicw_shared.http.app import PROBES, Probe, create_app
from vicw_shared.http.body import StrictRoute

__all__ = ["PROBES", "Probe", "StrictRoute", "create_app"]
