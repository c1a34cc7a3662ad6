"""How long a paired browser waits while one program holds 1,000 sockets open and refills them.

`python -m benchmarks.flood 60` holds each kind of socket open for 60 seconds.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.cockpit import Served, paired, serving

_KINDS = ("silent", "headers", "bodies", "unread", "upgrades")
_BETWEEN = 0.25  # seconds from one question to the next
_PATIENCE = 30.0
_PROGRAM = Path(__file__).resolve().parents[1] / "tests" / "support" / "flood.py"


async def _waits(served: Served, headers: dict[str, str], page: str, seconds: float) -> list[float]:
    """Seconds until each of many questions was answered, each on a connection of its own."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{served.port}/work", headers={**headers, "X-Silas-Page": page}
    )

    def asked() -> float:
        started = time.perf_counter()
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            answer.read()
        return time.perf_counter() - started

    waits, end = [asked()], time.perf_counter() + seconds
    while time.perf_counter() < end:
        await asyncio.sleep(_BETWEEN)
        waits.append(asked())
    return waits


def measure(sockets: int = 1000, seconds: float = 10.0) -> dict[str, float]:
    """Seconds, of each kind of socket the longest; and what the server wrote about it."""
    figures: dict[str, float] = {"sockets": sockets, "seconds of each kind": seconds}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = {**os.environ, "SILAS_HOME": folder, "SILAS_KEYS__BACKEND": "file"}
        subprocess.run(
            [sys.executable, "-m", "silas", "init"],
            env=env,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        log = Path(folder) / "errors.log"
        start = [sys.executable, "-m", "silas", "start", "--port", "0"]
        with log.open("wb") as errors, serving(start, env, errors) as served:
            headers, page = paired(served)
            for kind in _KINDS:
                argv = [sys.executable, str(_PROGRAM), str(served.port), kind, str(sockets)]
                with subprocess.Popen(
                    argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                ) as crowd:
                    assert crowd.stdout is not None
                    assert crowd.stdout.readline() == "held\n"
                    waits = asyncio.run(_waits(served, headers, page, seconds))
                    crowd.communicate()
                figures[f"{kind}: longest wait, s"] = max(waits)
        figures["bytes of errors, and one"] = log.stat().st_size + 1
    return figures


def main(arguments: list[str]) -> int:
    for figure, value in measure(seconds=float(arguments[0]) if arguments else 60.0).items():
        print(f"  {figure:44} {value:12,.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
