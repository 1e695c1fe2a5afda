"""Truth over time: what a statement claims of an attribute, and whether a newer claim takes an older one's place.

Only plain cases, of attributes that hold one value at a time: what is wrongly taken for replaced is not found.
"""

from vicw_ingest.extraction.rules.truth.claiming import claims
from vicw_ingest.extraction.rules.truth.judging import agrees, supersedes
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.subjects import is_common, subject_of, whose_and_of

__all__ = ["Claim", "agrees", "claims", "is_common", "subject_of", "supersedes", "whose_and_of"]
