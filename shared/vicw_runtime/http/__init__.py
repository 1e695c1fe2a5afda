"""HTTP layer shared by all services: bodies, problem documents, probes, metrics, request ids."""

from vicw_runtime.http.app import Probe, create_app
from vicw_runtime.http.body import StrictRoute
from vicw_runtime.http.event_stream import EventStream, is_stopping
from vicw_runtime.http.gate import (
    Caller,
    Gate,
    KeyGate,
    SecretGate,
    bearer_scheme,
    caller_of,
    is_of_this_machine,
    tenant_of,
)
from vicw_runtime.http.middleware import PROBES
from vicw_runtime.http.problems import refusals

__all__ = [
    "PROBES",
    "Caller",
    "EventStream",
    "Gate",
    "KeyGate",
    "Probe",
    "SecretGate",
    "StrictRoute",
    "bearer_scheme",
    "caller_of",
    "create_app",
    "is_of_this_machine",
    "is_stopping",
    "refusals",
    "tenant_of",
]
