"""The owner's workers: where they are read from, and what the commands say about them."""

from typing import Any, NamedTuple

from silas.agents.workers import Found, WorkerLibrary
from silas.config import SilasConfig
from silas.tools.offers import built_in_offer


class WorkerFinding(NamedTuple):
    """One line of `silas doctor` about a worker."""

    part: str
    ok: bool
    words: str


def worker_library(config: SilasConfig) -> WorkerLibrary:
    """The `.worker` files of this configuration."""
    return WorkerLibrary(config.worker_files, built_in_offer)


def worker_rows(config: SilasConfig) -> list[dict[str, Any]]:
    """Every worker's name, description, model, tools, delegates and skills, or its fault."""
    return [_row(found, config.models.executor.name) for found in worker_library(config).all()]


def worker_findings(config: SilasConfig) -> list[WorkerFinding]:
    """What `silas doctor` says: one line a file, nothing where there is none."""
    return [
        WorkerFinding(
            f"worker {found.name}",
            found.worker is not None,
            found.fault or f"{found.path} is usable",
        )
        for found in worker_library(config).all()
    ]


def _row(found: Found, usual_model: str) -> dict[str, Any]:
    worker = found.worker
    if worker is None:
        return {"name": found.name, "file": str(found.path), "fault": found.fault}
    return {
        "name": worker.name,
        "file": str(found.path),
        "fault": "",
        "description": worker.description,
        "model": usual_model if worker.model is None else worker.model.name,
        "tools": sorted(worker.offer.tools),
        "delegates": list(worker.delegates),
        "skills": list(worker.skills),
        "digest": worker.digest,
    }
