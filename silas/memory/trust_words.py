"""How far a memory is trusted, and why, in words for its owner (spec 3.8, 6)."""

from collections.abc import Mapping

from silas.language import tr, tr_later
from silas.memory.models import MemoryItem, TrustLevel
from silas.types import TaintLevel

_FIRM: Mapping[TrustLevel, str] = {
    TrustLevel.constitutional: tr_later(
        "It says who Silas is; nothing changes it while Silas runs."
    ),
    TrustLevel.verified: tr_later(
        "You said or confirmed it; Silas takes it as true, and only your own words change it."
    ),
}
_WORKING: Mapping[TaintLevel, str] = {
    TaintLevel.owner: tr_later(
        "Silas noted it from your own words, and you have not confirmed it; it may still change."
    ),
    TaintLevel.auth: tr_later(
        "It was said to Silas by somebody it knows, without a signature; Silas uses it with care."
    ),
    TaintLevel.external: tr_later(
        "It is from elsewhere; Silas may tell you of it, and takes no wish of yours from it."
    ),
}


def trust_words(item: MemoryItem) -> str:
    """One sentence: what stands behind a memory, and what follows from that."""
    return tr(_FIRM.get(item.trust_level) or _WORKING[item.taint])
