"""Which version of the prompts was evaluated with which model: every change needs a row.

`prompts.toml` beside this file has a table a version, oldest first: `prompts` (see `digest_now`),
`date`, and under `solved` what each model solved of the tasks, as `make evals` told it.
"""

import hashlib
import tomllib
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

import silas.agents

LOG: Final = Path(__file__).with_name("prompts.toml")
PROMPTS: Final = Path(silas.agents.__file__).with_name("prompts")


class Evaluated(NamedTuple):
    """One version of the prompts, and what was solved with it.

    Attributes:
        prompts: Its digest.
        date: When it was evaluated.
        solved: Of each model, how many tasks were solved, of how many.
    """

    prompts: str
    date: date
    solved: dict[str, tuple[int, int]]


def digest_now() -> str:
    """Sixteen hex digits of every prompt file's name and bytes."""
    whole = hashlib.sha256()
    for path in sorted(PROMPTS.glob("*.md")):
        whole.update(f"{path.name}\n".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def evaluated() -> tuple[Evaluated, ...]:
    """The versions that were evaluated, oldest first."""
    rows = tomllib.loads(LOG.read_text(encoding="utf-8"))["version"]
    return tuple(
        Evaluated(
            row["prompts"],
            row["date"],
            {model: (int(of[0]), int(of[1])) for model, of in row["solved"].items()},
        )
        for row in rows
    )
