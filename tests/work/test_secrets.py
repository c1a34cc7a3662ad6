"""A plan gets exactly the secrets it names, and none comes out of its work (decision D70)."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.plans import WorkItemResult, WorkItemStatus
from silas.testing import CallTool, MockClock, ScriptedModel, a_plan
from silas.testing.tools import FakeTool
from silas.tools import RiskLevel, ToolConfig
from tests.work.kit import DONE, Work, at_work, sh

VALUE = "correct-horse-battery"
READ = "cat /dev/fd/$SILAS_SECRETS_FD"
SILENT = sh("echo done > result.txt")


def keep(work: Work, name: str = "TOKEN", value: str = VALUE) -> str:
    """A secret in this house; its reference."""
    return work.harness.secrets.add(name, value, MockClock().now()).ref_id


async def work_with(
    work: Work, refs: dict[str, str], workspace: Path | None = None, **plan: Any
) -> WorkItemResult:
    where = {} if workspace is None else {"workspace": str(workspace)}
    item = a_plan(credential_refs=refs, budget={"max_attempts": 1}, **where, **plan)
    return await work.execute(await work.approve(item))


def told(model: ScriptedModel) -> str:
    """All that a model was ever told."""
    return "\n".join(request.text for request in model.requests)


@pytest.mark.proves("B8-BY-DESCRIPTOR", "S3.7-CREDENTIAL-REFS")
async def test_a_plan_is_given_exactly_the_secrets_it_names() -> None:
    count = sh(f"{READ} | tr -cd '\"' | wc -c; {READ} | wc -c; echo done > result.txt")
    async with at_work(count, DONE) as work:
        ref_id = keep(work)
        keep(work, "OTHER", "another-secret-of-mine")
        result = await work_with(work, {"TOKEN": ref_id})
        assert result.status is WorkItemStatus.done
        exactly = json.dumps({"TOKEN": VALUE})
        assert f"4\n{len(exactly)}\n" in told(work.executor)
        [(_, used)] = await work.record("secret.used")
        assert used == {"ref_id": ref_id, "work_item_id": "task-example"}
        assert work.harness.secrets.facts()[1].used_at


async def test_a_plan_that_names_none_is_given_none() -> None:
    look = sh("ls /proc/self/fd | tr '\\n' ' '; env; echo done > result.txt")
    async with at_work(look, DONE) as work:
        keep(work)
        assert (await work_with(work, {})).status is WorkItemStatus.done
        assert "\n0 1 2 3 HOME=" in told(work.executor)
        assert "SILAS" not in told(work.executor)
        assert await work.record("secret.used") == []


async def test_a_check_is_given_no_secret_whatever_the_plan_names() -> None:
    check = {
        "name": "bare",
        "run": "cat result.txt; env; ls /proc/self/fd | tr '\\n' ' '",
        "expect": {"contains": "0 1 2 3"},
    }
    async with at_work(SILENT, DONE) as work:
        result = await work_with(work, {"TOKEN": keep(work)}, verify=[check])
        assert result.status is WorkItemStatus.done
        assert "SILAS" not in str(result.verification_results)


@pytest.mark.parametrize(
    ("refs", "words"),
    [
        ({"TOKEN": f"ref_{'0' * 32}"}, "is not known, or was removed"),
        ({"HARMLESS": ""}, "is not the secret that is named HARMLESS"),
    ],
)
async def test_a_reference_that_is_unknown_or_named_wrongly_is_refused_at_the_entry(
    refs: dict[str, str], words: str
) -> None:
    async with at_work(SILENT, DONE) as work:
        ref_id = keep(work)
        result = await work_with(work, {name: ref or ref_id for name, ref in refs.items()})
        assert result.status is WorkItemStatus.blocked
        assert words in result.summary
        assert not work.executor.requests


async def test_a_secret_removed_after_the_approval_is_not_given() -> None:
    async with at_work(SILENT, DONE) as work:
        item = await work.approve(a_plan(credential_refs={"TOKEN": keep(work)}))
        work.harness.secrets.remove("TOKEN")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert "was removed" in result.summary
        assert not work.executor.requests


async def test_a_secret_removed_while_the_work_is_under_way_stops_the_next_run() -> None:
    removed: list[Work] = []

    class Removing(ScriptedModel):
        async def request(
            self,
            messages: list[ModelMessage],
            model_settings: ModelSettings | None,
            model_request_parameters: ModelRequestParameters,
        ) -> ModelResponse:
            if len(self.requests) == 1:
                removed[0].harness.secrets.remove("TOKEN")
            return await super().request(messages, model_settings, model_request_parameters)

    touch = sh("echo one >> result.txt")
    async with at_work(touch, touch, DONE, model=Removing) as work:
        removed.append(work)
        result = await work_with(work, {"TOKEN": keep(work)})
        assert result.status is WorkItemStatus.blocked
        assert "Nothing was run: the secret TOKEN" in result.summary
        assert len(await work.record("secret.used")) == 1


@pytest.mark.proves("B8-BY-DESCRIPTOR")
async def test_secrets_named_after_the_approval_are_not_given() -> None:
    async with at_work(SILENT, DONE) as work:
        ref_id = keep(work)
        item = await work.approve(a_plan())
        item.credential_refs = {"TOKEN": ref_id}
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert await work.record("secret.used") == []


@pytest.mark.proves("S0.5-SECRETS-OUT-OF-PIPELINE")
@pytest.mark.parametrize(
    "printing",
    [
        READ,
        f"{READ} >&2",
        f"{READ} | base64 -w 0",
        f"echo x$({READ}) | base64",
        f"{READ} | od -An -v -tx1",
        f"{READ}; exit 3",
        f"{READ} >&2; kill -SEGV $$",
        f"for part in correct- horse- battery; do printf %s $part; {READ} >/dev/null; done",
    ],
)
async def test_a_secret_that_is_printed_reaches_neither_model_nor_result_nor_record(
    printing: str,
) -> None:
    async with at_work(sh(f"echo done > result.txt; {printing}"), DONE) as work:
        result = await work_with(work, {"TOKEN": keep(work)})
        said = f"{told(work.executor)} {result!r} {work.silas.store!r}"
        assert "[secret TOKEN]" in told(work.executor)
        for part in ("correct", "horse", "Y29ycmVjd", "636f7272"):
            assert part not in said


async def test_a_secret_in_the_output_of_a_check_is_redacted() -> None:
    check = {"name": "shows", "run": f"echo {VALUE}", "expect": {"exit_code": 0}}
    async with at_work(SILENT, DONE) as work:
        keep(work)
        result = await work_with(work, {}, verify=[check])
        assert result.verification_results[0]["results"][0]["output"] == "[secret TOKEN]\n"


LEAKS = {
    "the file": f"{READ} > leak; echo done > result.txt",
    "in base64": f"{READ} | base64 > leak; echo done > result.txt",
    "compressed": f"{READ} | gzip > leak; echo done > result.txt",
    "in utf-16": f"{READ} | sed 's/./&\\x00/g' > leak; echo done > result.txt",
    "a name": f"touch {VALUE}; echo done > result.txt",
    "a link": f"ln -s /{VALUE} leak; echo done > result.txt",
    "deep": f"mkdir -p a/b; {READ} > a/b/leak; echo done > result.txt",
}


@pytest.mark.proves("S0.5-SECRETS-NOT-IN-RECORDS")
@pytest.mark.parametrize("leak", LEAKS)
async def test_a_change_that_holds_a_secret_is_never_applied(leak: str, tmp_path: Path) -> None:
    async with at_work(sh(LEAKS[leak]), DONE) as work:
        workspace = tmp_path / "project"
        workspace.mkdir()
        result = await work_with(work, {"TOKEN": keep(work)}, workspace)
        assert result.status is WorkItemStatus.stuck
        assert "holds the secret TOKEN" in result.summary
        assert VALUE not in f"{result!r}"
        assert list(workspace.iterdir()) == []


async def test_work_that_keeps_its_secret_to_itself_is_applied(tmp_path: Path) -> None:
    async with at_work(sh(f"{READ} | wc -c > size; echo done > result.txt"), DONE) as work:
        workspace = tmp_path / "project"
        workspace.mkdir()
        result = await work_with(work, {"TOKEN": keep(work)}, workspace)
        assert result.status is WorkItemStatus.done, result.summary
        assert (workspace / "size").read_text() == f"{len(json.dumps({'TOKEN': VALUE}))}\n"


async def test_a_secret_that_was_in_a_file_before_is_not_in_the_diff(tmp_path: Path) -> None:
    clean = sh("echo done > result.txt; echo nothing > .env; rm packed.gz")
    async with at_work(clean, DONE) as work:
        workspace = tmp_path / "project"
        workspace.mkdir()
        (workspace / ".env").write_text(f"TOKEN={VALUE}\n")
        (workspace / "packed.gz").write_bytes(gzip.compress(VALUE.encode()))
        keep(work)
        result = await work_with(work, {}, workspace)
        assert result.status is WorkItemStatus.done, result.summary
        assert "-TOKEN=[secret TOKEN]" in result.diff
        assert VALUE not in f"{result!r}"


@pytest.mark.proves("C-SECRETS-CONFIRM")
@pytest.mark.parametrize("with_secret", [False, True])
async def test_work_that_was_given_a_secret_is_asked_about_what_would_be_harmless(
    with_secret: bool,
) -> None:
    tool = FakeTool()
    async with at_work(CallTool("fake"), SILENT, DONE) as work:
        work.silas.registry.register(
            tool, ToolConfig(connector_id="none", risk_default=RiskLevel.low)
        )
        refs = {"TOKEN": keep(work)} if with_secret else {}
        await work_with(work, refs)
        assert len(await work.record("gate.allowed")) == (0 if with_secret else 1)
        assert len(tool.calls) == (0 if with_secret else 1)
        assert ("gate.required" in await work.events()) is with_secret
