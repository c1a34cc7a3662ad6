"""A client of `silas mcp serve` that is killed: the server ends, and that is no fault of Silas."""

import json
import os
import subprocess
from pathlib import Path

from tests.support.command import environment, run, silas
from tests.support.waits import SECONDS

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "gone", "version": "1"},
    },
}


def test_a_client_that_reads_no_more_is_no_fault_of_silas(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        silas("mcp", "serve"),
        env=env,
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        os.close(writer)
        assert server.stdin is not None
        assert server.stderr is not None
        server.stdin.write(json.dumps(_HELLO) + "\n")
        server.stdin.close()  # of a client that is killed both ends go
        said = server.stderr.read()
        assert server.wait(SECONDS) in (0, 1), said
    assert "did not foresee" not in said
    assert not list((tmp_path / "home").rglob("fault-*.txt"))
