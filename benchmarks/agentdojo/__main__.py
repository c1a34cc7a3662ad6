"""`make bench-agentdojo`: every pair of both versions; `--only slack` for less."""

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.agentdojo.constants import disguise, plain
from benchmarks.agentdojo.pairs import SEED, Job, Row, Variant, identity, measured
from benchmarks.agentdojo.report import told
from benchmarks.agentdojo.suites import VERSIONS, suites
from benchmarks.agentdojo.undefended import missed

_BOTH = frozenset({Variant.granted, Variant.looked})  # the arrangements; the rest are checks
_TOGETHER = 4  # user tasks of one job: enough to pay for opening a house, few enough to spread


def jobs(only: str, variants: list[Variant]) -> Iterator[Job]:
    """The newest version first; of the older one what is not the same pair in the newer."""
    for variant in variants:
        seen: dict[tuple[str, ...], None] = {}
        for version in reversed(VERSIONS) if variant in _BOTH else VERSIONS[-1:]:
            for suite in suites(version):
                if only and suite.name != only:
                    continue
                known: set[tuple[str, str]] = set()
                for pair in suite.pairs():
                    same = identity(suite, pair.user, pair.injection)
                    if same in seen:
                        known.add((pair.user, pair.injection))
                    seen[same] = None
                users = list(suite.users)
                for at in range(0, len(users), _TOGETHER):
                    some = tuple(users[at : at + _TOGETHER])
                    yield Job(variant, version, suite.name, some, frozenset(known))


def carried_over(found: list[Row]) -> list[Row]:
    """The rows of the older version that were measured as the same pairs of the newer one."""
    old, new = VERSIONS
    have = {row[:6] for row in found}
    names = {
        (version, suite.name): {
            (pair.user, pair.injection): identity(suite, pair.user, pair.injection)
            for pair in suite.pairs()
        }
        for version in VERSIONS
        for suite in suites(version)
    }
    carried: list[Row] = []
    for row in found:
        if row.version != new or row.variant not in _BOTH or not row.injection:
            continue
        pair = (row.user, row.injection)
        same = names[old, row.suite].get(pair) == names[new, row.suite][pair]
        moved = row._replace(version=old)
        if same and moved[:6] not in have:
            carried.append(moved)
    return carried


def check_attacks(only: str, variants: list[Variant]) -> None:
    """Play every attack with nothing in its way, under its own and under other constants.

    Raises:
        SystemExit: One of them fails by itself, so that no figure about it would mean anything.
    """
    for suite in suites(VERSIONS[-1]):
        if only and suite.name != only:
            continue
        renamed = [disguise(suite, SEED)] if Variant.renamed in variants else []
        failed = [one for worn in (plain(), *renamed) for one in missed(suite, worn)]
        for pair, refused in failed:
            print(suite.name, pair.user, pair.injection, *refused, file=sys.stderr)
        if failed:
            sys.exit(f"{len(failed)} attacks fail though nothing defends: the benchmark is broken")


def main() -> None:
    """Measure, print the tables, and write the rows where `--rows` says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="one suite")
    parser.add_argument("--variant", action="append", type=Variant, choices=list(Variant))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--rows", type=Path, help="a file that every single run is added to, as JSON"
    )
    given = parser.parse_args()
    began, found = time.monotonic(), list[Row]()
    warnings.simplefilter("ignore")  # AgentDojo's dependencies have much to say
    variants = given.variant or list(Variant)
    check_attacks(given.only, variants)
    work = list(jobs(given.only, variants))
    clean = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.processes, mp_context=clean) as pool:
        started = [pool.submit(measured, job) for job in work]
        for number, done in enumerate(as_completed(started), 1):
            found += done.result()
            if given.rows:
                lines = (json.dumps(row) + "\n" for row in done.result())
                with given.rows.open("a", encoding="utf-8") as file:
                    file.writelines(lines)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(work)}", end="", file=sys.stderr, flush=True)
    found += carried_over(found)
    print("\n".join(told(found)))
    print(f"\n{len(found)} runs in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
