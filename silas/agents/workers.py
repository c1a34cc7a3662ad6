"""The owner's workers: found by name, read afresh whenever they are asked for.

A file that cannot be used is a worker that is not there; the others are not disturbed. Nothing is
remembered between two questions, so what is bound by an approval and what runs are both what the
file says at that moment (decision B2).
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from silas.agents.worker_file import NAME, Worker, WorkerError, read_worker
from silas.errors import ConfigError
from silas.tools.offers import Offers

SUFFIX = ".worker"

MAX_BYTES = 256 * 1024
"""Of a worker's file: instructions, not a document."""


class WorkerLookup(NamedTuple):
    """One `.worker` file: the worker, or in one sentence why there is none."""

    name: str
    path: Path
    worker: Worker | None
    fault: str = ""


class Team(NamedTuple):
    """A worker with everybody it can reach through delegation, as their files were read."""

    lead: Worker
    members: Mapping[str, Worker]

    def digests(self) -> dict[str, str]:
        """Hex SHA-256 of each file, by the worker's name, for the approval to bind."""
        return {name: self.members[name].digest for name in sorted(self.members)}

    def skills(self) -> tuple[str, ...]:
        """The skills that their files name, each once."""
        named = (skill for member in self.members.values() for skill in member.skills)
        return tuple(dict.fromkeys(named))


class Workers(Protocol):
    """What work needs to know of workers."""

    def team(self, name: str) -> Team:
        """A worker with its delegates. Raises `ConfigError` with one sentence."""
        ...


class WorkerLibrary:
    """The `*.worker` files of one directory."""

    def __init__(self, directory: Path, offers: Offers) -> None:
        self._directory = directory
        self._offers = offers

    def all(self) -> tuple[WorkerLookup, ...]:
        """Every file there, by name; a delegate that cannot be used is a fault of who names it."""
        read = {path.name.removesuffix(SUFFIX): self._read(path) for path in self._files()}
        return tuple(self._with_delegates(found) for _, found in sorted(read.items()))

    def team(self, name: str) -> Team:
        """A worker with everybody it can reach.

        Raises:
            ConfigError: `E_CFG_WORKER`: it or one of them is not there or cannot be used.
        """
        members: dict[str, Worker] = {}
        wanted = [(name, "")]
        while wanted:
            one, by = wanted.pop(0)
            if one in members:
                continue
            members[one] = self._worker(one, by)
            wanted += [(delegate, one) for delegate in members[one].delegates]
        return Team(members[name], members)

    def _files(self) -> Iterator[Path]:
        try:
            yield from self._directory.glob(f"*{SUFFIX}")
        except OSError:
            return  # a directory that cannot be read has none

    def _worker(self, name: str, by: str) -> Worker:
        path = self._directory / f"{name}{SUFFIX}"
        whose = f"the worker {name!r}" + (f", to which {by!r} may delegate," if by else "")
        if not NAME.fullmatch(name) or not os.path.lexists(path):
            raise ConfigError(
                f"There is no file for {whose} in {self._directory}; see `silas workers list`.",
                code="E_CFG_WORKER",
            )
        found = self._read(path)
        if found.worker is None:
            raise ConfigError(
                f"The file of {whose} cannot be used: {found.fault}", code="E_CFG_WORKER"
            )
        return found.worker

    def _with_delegates(self, found: WorkerLookup) -> WorkerLookup:
        if found.worker is None:
            return found
        try:
            self.team(found.name)
        except ConfigError as error:
            return found._replace(worker=None, fault=error.message)
        return found

    def _read(self, path: Path) -> WorkerLookup:
        name = path.name.removesuffix(SUFFIX)
        try:
            worker = read_worker(_content(path), self._offers)
        except WorkerError as error:
            return WorkerLookup(name, path, None, f"{path.name}, {error.message}")
        except OSError as error:
            return WorkerLookup(name, path, None, f"{path.name} cannot be read: {error.strerror}.")
        except ValueError as error:
            return WorkerLookup(name, path, None, f"{path.name} {error}.")
        if worker.name != name:
            fault = f"{path.name} is the file of {worker.name!r}; give both the same name."
            return WorkerLookup(name, path, None, fault)
        return WorkerLookup(name, path, worker)


def _content(path: Path) -> bytes:
    """The bytes of a plain file, opened once; no pipe, device or other thing that could wait."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("is not a plain file")
        if facts.st_mode & stat.S_IWOTH:
            raise ValueError("can be changed by everybody; run chmod o-w on it")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"is longer than {MAX_BYTES // 1024} KB; shorten it")
    return raw
