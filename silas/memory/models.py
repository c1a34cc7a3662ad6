"""What a memory is (spec 3.8)."""

from enum import StrEnum


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    fact = "fact"
    episode = "episode"
    preference = "preference"
    skill_note = "skill_note"
    decision = "decision"
    foresight = "foresight"
    profile = "profile"
