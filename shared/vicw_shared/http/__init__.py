"""HTTP layer shared by all services: bodies, problem documents, probes, metrics, request ids."""

from vicw_shared.http.app import PROBES, Probe, create_app
from vicw_shared.http.body import StrictRoute
from vicw_shared.http.gate import Gate, bearer_scheme, is_loopback, tenant_of
from vicw_shared.http.key_gate import KeyGate
from vicw_shared.http.openapi import refusals
from vicw_shared.http.secret_gate import SecretGate

__all__ = [
    "PROBES",
    "Gate",
    "KeyGate",
    "Probe",
    "SecretGate",
    "StrictRoute",
    "bearer_scheme",
    "create_app",
    "is_loopback",
    "refusals",
    "tenant_of",
]
