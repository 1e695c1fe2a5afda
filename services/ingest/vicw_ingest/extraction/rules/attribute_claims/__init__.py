"""Attribute claims of plain sentences, and the test whether a newer claim supersedes an older one.

The patterns are few and mostly for single-valued attributes: a wrongly superseded statement is no longer found.
"""

from vicw_ingest.extraction.rules.attribute_claims.claim import ParsedClaim, agrees, supersedes
from vicw_ingest.extraction.rules.attribute_claims.patterns import claims
from vicw_ingest.extraction.rules.attribute_claims.subjects import owner_and_attribute

__all__ = ["ParsedClaim", "agrees", "claims", "owner_and_attribute", "supersedes"]
