import errno
import importlib
import inspect
import os
import sqlite3
from types import ModuleType

import httpx
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


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOENT, "there is no such file or folder; check the path."),
        (errno.EISDIR, "a folder is in the way; give the path of a file."),
        (errno.EACCES, "you have no permission; make it yours, or give another path."),
        (errno.EPERM, "you have no permission; make it yours, or give another path."),
        (errno.ENOSPC, "the disk is full; make room and try again."),
        (errno.EIO, f"{os.strerror(errno.EIO)}; check it and try again."),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_words(number: int, words: str) -> None:
    for names, named in ((("a.txt",), "'a.txt'"), ((), "A file or folder")):
        found = from_foreign(OSError(number, os.strerror(number), *names))
        assert found is not None
        assert (found.code, found.message) == ("E_CFG_FILE", f"{named} cannot be used: {words}")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("who knows"), "A file or folder cannot be used: who knows; "),
        (OSError(), "A file or folder cannot be used: the system refused it; "),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset"), "lost. (Connection reset)"),
        (httpx.ConnectError("[Errno -2] Name or service not known"), "(Name or service not known)"),
    ],
)
def test_the_number_of_a_systems_error_is_never_told(error: Exception, said: str) -> None:
    found = from_foreign(error)
    assert found is not None
    assert said in found.message
    assert "Errno" not in found.message


def test_our_own_errors_pass_and_strangers_are_not_guessed() -> None:
    ours = GateError("x")
    assert from_foreign(ours) is ours
    assert from_foreign(RuntimeError("who knows")) is None
