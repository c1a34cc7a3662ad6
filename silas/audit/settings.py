"""The `audit:` section of the configuration: when heads are signed, and who else keeps them."""

from collections.abc import Callable
from pathlib import Path

from pydantic import Field, model_validator

from silas.types import FrozenModel


class WitnessConfig(FrozenModel):
    """One witness: exactly one of the three.

    Attributes:
        file: A file that gets one line per head.
        directory: A directory that gets one file per head; fit for folders that are synchronised.
        command: A program by its absolute path and its arguments, run without a shell; it gets the
            line on standard input and ends with 0 once the head is safe.
    """

    file: Path | None = None
    directory: Path | None = None
    command: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "WitnessConfig":
        if sum(kind is not None for kind in (self.file, self.directory, self.command)) != 1:
            raise ValueError("a witness is one of `file`, `directory` and `command`")
        if self.command is not None and not Path(next(iter(self.command), "")).is_absolute():
            raise ValueError("a witness's command begins with the absolute path of a program")
        return self


class AuditConfig(FrozenModel):
    """The record of what happened.

    Attributes:
        checkpoint_minutes: How often the newest entry is signed while Silas runs; it is signed at
            the end of every run as well.
        witness: Who is told every signed head. None by default: only you know a place that whoever
            can write to your data directory cannot write to.
        witness_timeout_seconds: How long a witness's command may take.
    """

    checkpoint_minutes: float = Field(default=60, gt=0)
    witness: tuple[WitnessConfig, ...] = ()
    witness_timeout_seconds: float = Field(default=10, gt=0, le=60)

    @property
    def witness_paths(self) -> tuple[Path, ...]:
        """Where witnesses in the file system are."""
        kept = (each.file or each.directory for each in self.witness)
        return tuple(path for path in kept if path is not None)

    def at(self, place: Callable[[Path], Path]) -> "AuditConfig":
        """The same with every path put in its place."""
        placed = [
            each.model_copy(
                update={
                    "file": each.file and place(each.file),
                    "directory": each.directory and place(each.directory),
                }
            )
            for each in self.witness
        ]
        return self.model_copy(update={"witness": tuple(placed)})
