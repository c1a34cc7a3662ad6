"""The servers that are npm packages: installed once, as the committed lock file has them."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NODE = shutil.which("node") if shutil.which("npm") else None
LOCKED = Path(__file__).with_name("npm")
SECONDS = 300.0  # for a first installation on a busy machine


@pytest.fixture(scope="session")
def node_servers() -> Path:
    """The directory in which `npm ci` was run; kept for the next time, and gone with `.venv`."""
    lock = (LOCKED / "package-lock.json").read_bytes()
    folder = Path(sys.prefix) / "mcp-servers" / hashlib.sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # two workers must not install at once
        if not (folder / "ready").exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(LOCKED / name, folder / name)
            done = subprocess.run(
                ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=folder,
                env=dict(os.environ),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            (folder / "ready").touch()
    return folder / "node_modules"
