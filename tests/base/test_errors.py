import importlib
import inspect
import sqlite3
from types import ModuleType

import pytest

from silas import errors
from silas.errors import (
    ApprovalError,
    ChannelError,
    ConfigError,
    DatabaseError,
    GateError,
    LLMError,
    MemoryRefused,
    PlanFamilyError,
    SandboxError,
    SilasError,
    Stopped,
    ToolError,
    foreign_errors,
    from_foreign,
)

FAMILIES: dict[type[SilasError], str] = {
    ConfigError: "E_CFG",
    LLMError: "E_LLM",
    DatabaseError: "E_DB",
    SandboxError: "E_SANDBOX",
    GateError: "E_GATE",
    ChannelError: "E_CHANNEL",
    ApprovalError: "E_APPROVAL",
    PlanFamilyError: "E_PLAN",
    ToolError: "E_TOOL",
    MemoryRefused: "E_MEM",
    Stopped: "E_STOPPED",
}


@pytest.mark.proves("S18.1-ONE-CODE")
@pytest.mark.parametrize(("family", "prefix"), FAMILIES.items())
def test_each_family_carries_its_prefix_ids_and_one_sentence(
    family: type[SilasError], prefix: str
) -> None:
    error = family("Do this.", turn_id="t", work_item_id="w", scope_id="s")
    assert error.code.startswith(prefix + "_")
    assert (error.turn_id, error.work_item_id, error.scope_id) == ("t", "w", "s")
    assert str(error) == f"Do this. [{error.code}]"


@pytest.mark.proves("S18.1-ONE-CODE")
def test_a_code_of_another_family_is_a_programming_error() -> None:
    with pytest.raises(AssertionError):
        SandboxError("x", code="E_DB_LOCKED")


def test_families_of_the_table_are_all_there_is() -> None:
    found = {
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, SilasError) and cls is not SilasError
    }
    assert found == set(FAMILIES)


def _exception_classes(module: ModuleType) -> list[type[BaseException]]:
    return [
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Exception)
        and not issubclass(cls, Warning)
        and cls.__module__.split(".")[0] == module.__name__.split(".")[0]
    ]


# Control flow of PydanticAI between a tool and its run; never leaves a run.
CONTROL_FLOW = {
    "ModelRetry",
    "ToolFailed",
    "CallDeferred",
    "ApprovalRequired",
    "SkipModelRequest",
    "RetryModelRequest",
    "SkipToolValidation",
    "SkipToolExecution",
    "ToolRetryError",
    "ToolFailedError",
    "FallbackExceptionGroup",
}


@pytest.mark.proves("S18.1-ONE-CODE")
@pytest.mark.parametrize(
    "name",
    ["pydantic_ai.exceptions", "sqlite3", "nacl.exceptions", "keyring.errors", "yaml.error"],
)
def test_every_exception_of_a_library_we_call_is_in_the_table(name: str) -> None:
    module = importlib.import_module(name)
    mapped = set(foreign_errors())

    def covered(cls: type[BaseException]) -> bool:
        return any(
            f"{c.__module__}.{c.__qualname__}" in mapped
            or f"{c.__module__.split('.')[0]}.{c.__qualname__}" in mapped
            for c in cls.__mro__
        )

    missing = [
        cls.__name__
        for cls in _exception_classes(module)
        if cls.__name__ not in CONTROL_FLOW and not covered(cls)
    ]
    assert missing == []


def test_the_most_specific_row_wins_and_the_cause_is_kept() -> None:
    locked = from_foreign(sqlite3.OperationalError("database is locked"), scope_id="s")
    assert isinstance(locked, DatabaseError)
    assert locked.code == "E_DB_OPERATION"
    assert "database is locked" in locked.message
    assert locked.scope_id == "s"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (sqlite3.IntegrityError("UNIQUE constraint failed: t.id"), "E_DB_QUERY"),
        (sqlite3.ProgrammingError("Incorrect number of bindings"), "E_DB_QUERY"),
        (sqlite3.DatabaseError("database disk image is malformed"), "E_DB_CORRUPT"),
    ],
)
def test_a_refused_statement_is_no_damaged_database(error: sqlite3.Error, code: str) -> None:
    found = from_foreign(error)
    assert found is not None
    assert found.code == code


def test_our_own_errors_pass_and_strangers_are_not_guessed() -> None:
    ours = GateError("x")
    assert from_foreign(ours) is ours
    assert from_foreign(RuntimeError("who knows")) is None
