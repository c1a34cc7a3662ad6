"""A run inherits the document of its secrets, and nothing else of it is anywhere inside."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import SecretBytes

from silas.errors import ConfigError, SandboxError
from silas.sandbox import (
    Credentials,
    DeniedTraffic,
    NetworkEvent,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
)
from silas.sandbox.guarded import GuardedSandbox
from silas.sandbox.network.names import Reason

from .conftest import Run

DOCUMENT = json.dumps({"TOKEN": "correct-horse-battery"})
GIVEN = {"secrets": SecretBytes(DOCUMENT.encode())}


@pytest.mark.parametrize(
    "read",
    [
        "cat <&$SILAS_SECRETS_FD",
        "cat /dev/fd/$SILAS_SECRETS_FD",
        "cat /dev/fd/$SILAS_SECRETS_FD >/dev/null; sh -c 'cat /dev/fd/$SILAS_SECRETS_FD'",
    ],
)
async def test_a_command_and_its_children_read_the_secrets_from_one_descriptor(
    run: Run, read: str
) -> None:
    result = await run(["sh", "-c", read], **GIVEN)
    assert (result.stdout, result.exit_code) == (DOCUMENT, 0)


async def test_secrets_are_in_no_environment_no_command_line_and_no_file(run: Run) -> None:
    look = (
        "env; tr '\\0' '\\n' </proc/self/environ; cat /proc/*/cmdline; ls -l /proc/self/fd;"
        " cat /proc/1/environ; grep -rs correct-horse / --exclude-dir=proc --exclude-dir=sys"
        " --exclude-dir=usr --exclude-dir=lib --exclude-dir=dev; true"
    )
    result = await run(["sh", "-c", look], **GIVEN)
    assert "SILAS_SECRETS_FD=4" in result.stdout
    assert "correct" not in result.stdout.replace("grep -rs correct-horse", "")


async def test_a_run_without_secrets_has_no_such_descriptor_even_right_after_one_that_had(
    run: Run,
) -> None:
    before = set(os.listdir("/proc/self/fd"))
    assert (await run(["sh", "-c", "cat <&4"], **GIVEN)).stdout == DOCUMENT
    after = await run(["sh", "-c", "ls /proc/self/fd; env; cat <&4"])
    assert DOCUMENT not in after.stdout + after.stderr
    assert "SILAS" not in after.stdout
    assert after.stdout.split()[:4] == ["0", "1", "2", "3"]  # 3 is the listing's own
    assert after.exit_code != 0
    assert len(set(os.listdir("/proc/self/fd"))) <= len(before) + 8  # of the loop's own, at most


async def test_a_run_cannot_change_its_secrets(run: Run) -> None:
    change = "echo x >&4; echo y >/dev/fd/4; cat /dev/fd/4"
    result = await run(["sh", "-c", change], **GIVEN)
    assert result.stdout.endswith(DOCUMENT)


class Inner:
    """Stands for the real sandbox; keeps what it was given."""

    name = "inner"

    def __init__(self, stdout: str = "", error: SandboxError | None = None) -> None:
        self.given: list[SandboxFiles] = []
        self._stdout, self._error = stdout, error

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        self.given.append(files)
        if self._error is not None:
            raise self._error
        return SandboxResult(
            exit_code=0, stdout=self._stdout, stderr="", ended_by="exit", duration_seconds=0
        )


def redact(text: str, cut: bool) -> str:
    return text.replace("correct-horse-battery", "[secret]")


def around(inner: Inner, opened: list[Credentials], refuse: str = "") -> GuardedSandbox:
    async def reveal(credentials: Credentials) -> bytes:
        opened.append(credentials)
        return DOCUMENT.encode()

    def refresh() -> None:
        if refuse:
            raise ConfigError(refuse, code="E_CFG_SECRET")

    return GuardedSandbox(inner, refresh, reveal, redact)


async def guarded_run(
    inner: Inner, refuse: str = "", **files: object
) -> tuple[SandboxResult, list[Credentials]]:
    opened: list[Credentials] = []
    asked = SandboxFiles(cwd=Path("/work")).model_copy(update=files)
    return await around(inner, opened, refuse).run(["x"], SandboxLimits(), asked), opened


async def test_secrets_are_opened_for_runs_that_were_promised_some_and_for_no_other() -> None:
    inner = Inner()
    promised = Credentials(refs={"TOKEN": "ref_1"}, work_item_id="task-a")
    _, opened = await guarded_run(inner)
    assert opened == []
    assert not inner.given[0].secrets
    _, opened = await guarded_run(inner, credentials=promised)
    assert opened == [promised]
    assert inner.given[1].secrets.get_secret_value() == DOCUMENT.encode()
    assert "horse" not in repr(inner.given[1])


async def test_an_error_about_a_run_says_no_secret() -> None:
    inner = Inner(error=SandboxError("set up: correct-horse-battery", code="E_SANDBOX_SETUP"))
    with pytest.raises(SandboxError, match=r"set up: \[secret\]") as refused:
        await guarded_run(inner)
    assert refused.value.code == "E_SANDBOX_SETUP"
    assert refused.value.__cause__ is None


async def test_what_the_proxy_was_asked_for_is_recorded_without_secrets() -> None:
    inner, told = Inner(), list[NetworkEvent]()

    async def record(event: NetworkEvent) -> None:
        told.append(event)

    await guarded_run(inner, record=record)
    await inner.given[0].record(
        DeniedTraffic("correct-horse-battery.example.com", Reason.not_listed)
    )
    assert told == [DeniedTraffic("[secret].example.com", Reason.not_listed)]


async def test_what_could_not_be_recognised_is_not_run() -> None:
    inner = Inner()
    with pytest.raises(SandboxUnavailable, match="locked") as refused:
        await guarded_run(inner, refuse="The secrets are locked.")
    assert refused.value.code == "E_SANDBOX_SECRET"
    assert inner.given == []
