"""One base error, a family per `E_*` prefix of spec 18.1, one table for foreign errors."""

import errno
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, cast


class SilasError(Exception):
    """Something a person can act on: a stable code, one clear sentence, and correlation ids.

    Args:
        message: One sentence that says what is wrong and what to do.
        code: The full taxonomy code; defaults to the family's general code.
        turn_id, work_item_id, scope_id: Correlation ids, empty where they do not apply.
        field: Which field of a form it is about, by its name; empty where it is about none.
    """

    family: ClassVar[str] = "E_SILAS"

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        turn_id: str = "",
        work_item_id: str = "",
        scope_id: str = "",
        field: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or f"{self.family}_FAILED"
        self.turn_id = turn_id
        self.work_item_id = work_item_id
        self.scope_id = scope_id
        self.field = field
        if not self.code.startswith(self.family + "_"):
            raise AssertionError(f"{self.code} is not of the family {self.family}")

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class ConfigError(SilasError):
    """Configuration or start-up: fail fast, refuse to start."""

    family = "E_CFG"


class LLMError(SilasError):
    """A model could not be reached, timed out, or answered nonsense."""

    family = "E_LLM"


class DatabaseError(SilasError):
    """The database is locked, corrupt, drifted or full."""

    family = "E_DB"


class SandboxError(SilasError):
    """The sandbox is missing, incomplete or failed; nothing ran unprotected."""

    family = "E_SANDBOX"


class GateError(SilasError):
    """A gate provider failed; policy lane closed, quality lane open."""

    family = "E_GATE"


class ChannelError(SilasError):
    """A channel disconnected or timed out; the safe answer was taken."""

    family = "E_CHANNEL"


class Stopped(SilasError):
    """The emergency stop is in force; nothing is begun until `silas resume`."""

    family = "E_STOPPED"


class ApprovalError(SilasError):
    """A token does not authorise what was about to happen; denied."""

    family = "E_APPROVAL"


class PlanFamilyError(SilasError):
    """A plan cannot be read or cannot be honoured."""

    family = "E_PLAN"


class MemoryRefused(SilasError):
    """A memory cannot be made, changed or found as asked; nothing was changed."""

    family = "E_MEM"


class ToolError(SilasError):
    """A tool call was stopped or failed at the tool door."""

    family = "E_TOOL"


UNKNOWN_ID = frozenset(
    {
        "E_APPROVAL_DEVICE",
        "E_APPROVAL_UNKNOWN",
        "E_CFG_SECRET_UNKNOWN",
        "E_CTX_ATTACHMENT_UNKNOWN",
        "E_CTX_CONVERSATION",
        "E_CHANNEL_DEVICE",
        "E_CHANNEL_NOT_FOUND",
        "E_CHANNEL_NOT_WAITING",
        "E_DB_MISSING",
        "E_MEM_UNKNOWN",
        "E_PLAN_NOT_WAITING",
        "E_GOAL_UNKNOWN",
        "E_BATCH_UNKNOWN",
        "E_REMINDER_UNKNOWN",
        "E_TOOL_NO_ATTEMPT",
    }
)
"""The codes that say that nothing has the id that was given, whatever family they are of.

Exit code 2 on the command line, 404 in the cockpit.
"""

# (qualified name of a foreign exception, our class, our code, what to tell a person).
# Looked up along the exception's own class hierarchy, most specific class first, by name, so that
# nothing heavy is imported to translate an error that never happens.
_FOREIGN: tuple[tuple[str, type[SilasError], str, str], ...] = (
    ("pydantic_ai.exceptions.ModelAuthenticationError", LLMError, "E_LLM_AUTH", "The model provider refused the API key; check the key in the environment."),
    ("pydantic_ai.exceptions.ModelNotFoundError", LLMError, "E_LLM_MODEL", "The provider does not know this model; check the name under `models:`."),
    ("pydantic_ai.exceptions.ModelRateLimitError", LLMError, "E_LLM_RATE_LIMIT", "The model provider is limiting requests; wait and try again."),
    ("pydantic_ai.exceptions.ModelQuotaExceededError", LLMError, "E_LLM_QUOTA", "The account at the model provider has no credit or quota left; add some there, or choose another model under `models:`."),
    ("pydantic_ai.exceptions.ModelUnavailableError", LLMError, "E_LLM_OVERLOADED", "The model's server is overloaded or not ready; wait and try again, or name a `fallback`."),
    ("pydantic_ai.exceptions.ModelContextWindowExceededError", LLMError, "E_LLM_CONTEXT", "The request is longer than the model's context; start its server with a larger one, or choose another model under `models:`."),
    ("pydantic_ai.exceptions.ModelRequestRejectedError", LLMError, "E_LLM_API", "The model's server refuses the request; check `output` and the other settings of the role under `models:`."),
    ("pydantic_ai.exceptions.ModelTimeoutError", LLMError, "E_LLM_TIMEOUT", "The model did not answer in time; try again."),
    ("pydantic_ai.exceptions.ModelRequestTimeout", LLMError, "E_LLM_TIMEOUT", "The model did not answer in time; try again."),
    ("pydantic_ai.exceptions.ModelConnectionError", LLMError, "E_LLM_CONNECTION", "The model provider cannot be reached, or broke off; check the network and `base_url`."),
    ("pydantic_ai.exceptions.ModelAPIError", LLMError, "E_LLM_API", "The model provider answered with an error; try again, or choose another model under `models:`."),
    ("pydantic_ai.exceptions.UsageLimitExceeded", LLMError, "E_LLM_BUDGET", "The budget for model use is spent."),
    ("pydantic_ai.exceptions.UnexpectedModelBehavior", LLMError, "E_LLM_OUTPUT", "The model's answer does not have the required form."),
    ("pydantic_ai.exceptions.AgentRunError", LLMError, "E_LLM_RUN", "The model run failed."),
    ("pydantic_ai.exceptions.UserError", ConfigError, "E_CFG_MODEL", "The model is not usable as configured; see `models:`."),
    ("openai.OpenAIError", LLMError, "E_LLM_API", "The model provider answered with an error."),
    ("httpx.TimeoutException", LLMError, "E_LLM_TIMEOUT", "The request timed out; try again."),
    ("httpx.HTTPError", LLMError, "E_LLM_CONNECTION", "The server cannot be reached; check the network."),
    ("sqlite3.OperationalError", DatabaseError, "E_DB_OPERATION", "The database is locked, full or unreadable; free it and try again."),
    ("sqlite3.IntegrityError", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.ProgrammingError", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.DataError", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.InternalError", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.NotSupportedError", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.DatabaseError", DatabaseError, "E_DB_CORRUPT", "The database is damaged; restore it from a backup."),
    ("sqlite3.Error", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("sqlite3.Warning", DatabaseError, "E_DB_QUERY", "The database refused a statement."),
    ("nacl.exceptions.CryptoError", ApprovalError, "E_APPROVAL_CRYPTO", "A cryptographic check failed."),
    ("keyring.errors.KeyringError", ConfigError, "E_CFG_KEYRING", "The operating system's key store is not usable; configure the key file instead."),
    ("yaml.error.YAMLError", ConfigError, "E_CFG_YAML", "The YAML cannot be read."),
    ("pydantic_core._pydantic_core.ValidationError", ConfigError, "E_CFG_INVALID", "The data does not have the required form."),
    ("builtins.ConnectionError", ChannelError, "E_CHANNEL_DISCONNECTED", "The connection was lost."),
    ("builtins.EOFError", ChannelError, "E_CHANNEL_CLOSED", "The input ended."),
    ("builtins.TimeoutError", ChannelError, "E_CHANNEL_TIMEOUT", "There was no answer in time."),
    ("builtins.OSError", ConfigError, "E_CFG_FILE", "A file or directory cannot be used."),
)  # fmt: skip

_BY_NAME = {name: (cls, code, words) for name, cls, code, words in _FOREIGN}


_UNFIT: tuple[tuple[tuple[str, ...], str], ...] = (
    (("missing",), "it is needed and is missing"),
    (("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "must be a whole number"),
    (("float_parsing", "float_type", "finite_number", "decimal_parsing"), "must be a number"),
    (("bool_parsing", "bool_type"), "must be true or false"),
    (("string_type",), "must be text"),
    (("path_type",), "must be a path"),
    (("url_parsing", "url_type", "url_scheme", "url_syntax_violation"), "must be an address such as https://example.org"),
    (("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "timezone_aware"), "must be a date and time with its zone"),
    (("json_invalid", "json_type"), "must be JSON"),
    (("union_tag_invalid",), "must be one of {expected_tags}"),
    (("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list"),
    (("dict_type", "mapping_type", "model_type", "model_attributes_type"), "must have keys of its own"),
    (("literal_error", "enum"), "must be {expected}"),
    (("greater_than",), "must be more than {gt}"),
    (("greater_than_equal",), "must be {ge} or more"),
    (("less_than",), "must be less than {lt}"),
    (("less_than_equal",), "must be {le} or less"),
    (("string_too_short",), "must have {min_length} characters or more"),
    (("string_too_long",), "must have {max_length} characters or fewer"),
    (("too_short",), "must have {min_length} entries or more"),
    (("too_long",), "must have {max_length} entries or fewer"),
    (("string_pattern_mismatch",), "must fit the pattern {pattern}"),
    (("extra_forbidden",), "is not known here"),
    (("value_error", "assertion_error"), "{error}"),
)  # fmt: skip

_UNFIT_WORDS = {kind: words for kinds, words in _UNFIT for kind in kinds}
_NO_FORM = "does not have the required form"
_VALIDATORS_OWN = frozenset({"value_error", "assertion_error"})
_EMPTY = frozenset({("string_too_short", 1), ("too_short", 1)})


class Misfit(NamedTuple):
    """One value that does not fit what validates it.

    Attributes:
        loc: Where it stands, from the outermost key inwards.
        kind: The library's name for the kind of error.
        facts: What belongs to it, such as a bound.
    """

    loc: tuple[str | int, ...]
    kind: str
    facts: Mapping[str, object]

    @property
    def place(self) -> str:
        """`a.0.b`; empty for the whole."""
        return ".".join(str(part) for part in self.loc)

    @property
    def words(self) -> str:
        """What is wrong, in Silas's words."""
        return describe_misfit(self.kind, self.facts)

    @property
    def plain(self) -> str:
        """The same without what somebody's own validator says, which could repeat a secret."""
        return _NO_FORM if self.kind in _VALIDATORS_OWN else self.words


class ValidationFailure(Protocol):
    """A validating library's error: the only place where its form is known is `misfits`."""

    def errors(self) -> Sequence[Any]:
        """One mapping an error: `loc`, `type` and, where there are facts, `ctx`."""
        ...


def misfits(error: ValidationFailure) -> list[Misfit]:
    """Every value that does not fit, in the library's order; there is at least one."""
    return [
        Misfit(tuple(e.get("loc", ())), e.get("type", ""), e.get("ctx", {})) for e in error.errors()
    ]


def describe_misfit(kind: str, context: Mapping[str, object]) -> str:
    """What is wrong with one value, in Silas's words: never those of the validating library.

    Args:
        kind: The library's name for the kind of error.
        context: Its facts, such as a bound.
    """
    if (kind, context.get("min_length")) in _EMPTY:
        return "must not be empty"
    try:
        return _UNFIT_WORDS.get(kind, _NO_FORM).format_map(context)
    except KeyError:  # somebody else's error that took the name of one of the library's
        return _NO_FORM


_FILE_WORDS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    ((errno.ENOENT,), "there is no such file or folder", "check the path"),
    ((errno.EISDIR,), "a folder is in the way", "give the path of a file"),
    ((errno.ENOTDIR,), "a part of its path is no folder", "check the path"),
    ((errno.EEXIST,), "something is there already", "give another name"),
    ((errno.ENAMETOOLONG,), "its name is too long", "give a shorter one"),
    ((errno.EACCES, errno.EPERM), "you have no permission", "make it yours, or give another path"),
    ((errno.EROFS,), "its disk can only be read", "give a path on another one"),
    ((errno.ENOSPC, errno.EDQUOT), "the disk is full", "make room and try again"),
)  # fmt: skip

_BY_NUMBER = {number: row[1:] for row in _FILE_WORDS for number in row[0]}
_NUMBER = re.compile(r"\[Errno -?\d+\] ?")


def reason(error: BaseException) -> str:
    """Why something failed, in one line without a full stop: of the system's errors words, and
    never their numbers; of ours their message.
    """
    if isinstance(error, SilasError):
        return error.message.rstrip(".")
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno][0]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    lines = _NUMBER.sub("", str(error)).strip().splitlines()
    return lines[0][:300] if lines else ""


def _of_file(error: OSError) -> str:
    """Which file cannot be used, why, and what to do."""
    words, what = _BY_NUMBER.get(error.errno or 0, (reason(error), "check it and try again"))
    name = error.filename if isinstance(error.filename, (str, bytes)) else ""
    # its repr, as a name may drive a terminal
    named = repr(name) if name else "A file or folder"
    return f"{named} cannot be used: {words or 'the system refused it'}; {what}."


def foreign_errors() -> tuple[str, ...]:
    """The qualified names in the table, for the test that the table is complete."""
    return tuple(_BY_NAME)


def from_foreign(error: BaseException, **ids: str) -> SilasError | None:
    """Translate another library's error into ours, or None if it is nobody's we know.

    A `SilasError` is returned as it is. The original's first line is kept, because it names the
    host or statement; of a file's error, its name and the reason in words.
    """
    if isinstance(error, SilasError):
        return error
    for cls in type(error).__mro__:
        names = (
            f"{cls.__module__}.{cls.__qualname__}",
            f"{cls.__module__.split('.')[0]}.{cls.__qualname__}",
        )
        found = next((_BY_NAME[n] for n in names if n in _BY_NAME), None)
        if found is not None:
            family, code, words = found
            if isinstance(error, OSError) and code == "E_CFG_FILE":
                return family(_of_file(error), code=code, **ids)
            # the first line of a ValidationError counts and names classes, in another's words
            detail = "" if code == "E_CFG_INVALID" else reason(error)
            return family(f"{words} ({detail})" if detail else words, code=code, **ids)
    return None


def json_fault(error: object) -> str:
    """Where a text is no JSON, of an error as the library lists it; empty where it is another."""
    if not isinstance(error, Mapping):
        return ""
    listed = cast(Mapping[str, Any], error)
    broken = listed.get("type") == "json_invalid"
    return str(listed.get("msg", "")).removeprefix("Invalid JSON: ") if broken else ""
