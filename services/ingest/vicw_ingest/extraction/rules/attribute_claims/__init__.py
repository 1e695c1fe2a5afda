"""What a plain sentence claims of an attribute, and whether a newer claim takes an older one's place.

Few patterns, of attributes that hold one value at a time: a statement that is wrongly replaced is not found.
"""

from vicw_ingest.extraction.rules.attribute_claims.claim import ParsedClaim, agrees, supersedes
from vicw_ingest.extraction.rules.attribute_claims.patterns import claims
from vicw_ingest.extraction.rules.attribute_claims.subjects import owner_and_attribute

__all__ = ["ParsedClaim", "agrees", "claims", "owner_and_attribute", "supersedes"]
