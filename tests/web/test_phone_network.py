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
from tests.web.support.chromium import FOUND, HOW
from tests.web.support.namespace import OWN_NETWORK, namespaces_work, trusts_an_authority

_INSIDE = "ip link set lo up && exec " + '"$@"'
_MOST_SECONDS = 8 * SECONDS  # two browsers' starts and six tests


@trusts_an_authority
@pytest.mark.skipif(FOUND is None, reason=HOW)
@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
def test_a_phone_reaches_silas_over_a_cable_of_its_own(tmp_path: Path) -> None:
    if not namespaces_work():
        pytest.skip("only root, with iproute2, makes network namespaces")
    tests = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests/web/test_phone.py"]
    tests.append(f"--basetemp={tmp_path / 'own'}")
    own = {name: said for name, said in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        ("unshare", "--net", "sh", "-c", _INSIDE, "sh", sys.executable, *tests),
        cwd=ROOT,
        env={**own, OWN_NETWORK: "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_MOST_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "SKIPPED" not in ran.stdout
