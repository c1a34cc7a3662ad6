"""What the built-in model can answer of itself: a greeting, and what it is and can do."""

import re

_ABOUT = re.compile(
    r"(?:(?:hello|hi|hey|good (?:morning|day|evening)|hallo|guten (?:morgen|tag|abend))"
    r"(?: (?:there|silas))?"
    r"|(?:silas )?(?:help|hilfe)(?: me)?"
    r"|(?:silas )?(?:what (?:can|do) you do|what are you able to do|who are you|what are you"
    r"|how (?:can|do) i (?:begin|start|use (?:you|silas))"
    r"|was kannst du|wer bist du|was bist du)(?: for me)?)"
)


def asked(text: str) -> bool:
    """Whether a message greets Silas or asks what it can do, and nothing else."""
    return _ABOUT.fullmatch(" ".join(re.findall(r"\w+", text.lower()))) is not None
