"""The tests of a phone, in a network of their own: a new cable in this machine's would end the
connections of every other browser on it (Chromium's ERR_NETWORK_CHANGED).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import ROOT
from tests.support.waits import SECONDS
from tests.web.support.namespace import namespaces_work, trusts_an_authority

_HERE = "ip link set lo up && exec " + '"$@"'
_MOST_SECONDS = 4 * SECONDS  # a browser's start and four tests


@trusts_an_authority
@pytest.mark.skipif(
    os.environ.get("SILAS_PHONE_TESTS") is not None or shutil.which("unshare") is None,
    reason="needs unshare, and is not run by the tests that it runs",
)
@pytest.mark.skipif(not namespaces_work(), reason="only root makes network namespaces")
def test_a_phone_reaches_silas_over_a_cable_of_its_own(tmp_path: Path) -> None:
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/web/test_phone.py",
    ]
    own = {name: said for name, said in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [
            "unshare",
            "--net",
            "sh",
            "-c",
            _HERE,
            "sh",
            *tests,
            f"--basetemp={tmp_path / 'own'}",
            "-rs",
        ],
        cwd=ROOT,
        env={**own, "SILAS_PHONE_TESTS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_MOST_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "SKIPPED" not in ran.stdout
