"""What secrets of well-known kinds look like in a text."""

import re
from typing import Final

SECRETS: Final = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    (
        "an API key",
        re.compile(r"\b(?:sk|rk|pk)[-_](?:live|test|ant|proj|or)[-_][A-Za-z0-9_-]{16,}"),
    ),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9]{32,}")),
    ("an AWS key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("a Google key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
)
"""What each is called, and its pattern."""


def holds_secret(text: str) -> bool:
    """Whether something in a text looks like a secret."""
    return any(pattern.search(text) for _, pattern in SECRETS)
