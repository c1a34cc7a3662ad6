"""Score the cockpit's screens with Lighthouse, as `make lighthouse` does; needs node and npm.

Starts a Silas in a home of its own, pairs a Chromium with it, and prints the median of three
rounds for each screen on a phone and on a desktop. Ends with 1 where a score is below 95.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LEAST = 95
_ROUNDS = "3"
_PACKAGES = ("lighthouse@12", "puppeteer-core@24")
_LINK = re.compile(r"http://\S+/pair#[0-9a-f]+")


def _needed(*names: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit(f"{names[0]} is not installed; Lighthouse needs it.")
    return found


def _link(started: "subprocess.Popen[str]") -> str:
    assert started.stdout is not None
    for line in started.stdout:
        if found := _LINK.search(line):
            return found[0]
    raise SystemExit("Silas did not start; try `silas start`.")


def main() -> int:
    """Install Lighthouse beside, start Silas, score, print a line a screen."""
    chromium, npm, node = _needed("chromium", "google-chrome"), _needed("npm"), _needed("node")
    with tempfile.TemporaryDirectory(prefix="silas-lighthouse-") as directory:
        place = Path(directory)
        shutil.copy(ROOT / "scripts" / "lighthouse.mjs", place)
        subprocess.run([npm, "install", "--silent", "--prefix", directory, *_PACKAGES], check=True)
        environ = {**os.environ, "SILAS_HOME": str(place / "home")}
        silas = [sys.executable, "-I", "-m", "silas"]
        subprocess.run([*silas, "init"], env=environ, check=True, capture_output=True)
        with subprocess.Popen(
            [*silas, "start", "--port", "8499"], env=environ, stdout=subprocess.PIPE, text=True
        ) as started:
            try:
                command = [node, "lighthouse.mjs", _link(started), chromium, str(place / "profile")]
                said = subprocess.run(
                    [*command, _ROUNDS], cwd=place, check=True, stdout=subprocess.PIPE, text=True
                ).stdout
            finally:
                started.terminate()
    rows = [json.loads(line) for line in said.splitlines()]
    for row in rows:
        scores = ", ".join(f"{name} {score}" for name, score in row["scores"].items())
        print(f"{row['form']:8} {row['screen']:12} {scores}")
    return int(any(score < _LEAST for row in rows for score in row["scores"].values()))


if __name__ == "__main__":
    sys.exit(main())
