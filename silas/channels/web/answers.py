"""How an endpoint says no: one code, one sentence, one HTTP status; what was sent is not repeated.

A validation error of the framework would quote what was sent, and that may be a secret.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from silas.channels.web.views import Problem
from silas.errors import (
    UNKNOWN_ID,
    ApprovalError,
    ChannelError,
    ConfigError,
    DatabaseError,
    MemoryRefused,
    PlanFamilyError,
    SandboxError,
    SilasError,
    Stopped,
    from_foreign,
    misfits,
)
from silas.language import COCKPIT, refusal_words, said_at, speaking_as_asked, tr, tr_later

_BY_CODE: Mapping[str, int] = {
    **dict.fromkeys(UNKNOWN_ID, 404),
    "E_CHANNEL_BAD_REQUEST": 400,
    "E_CHANNEL_NO_SESSION": 401,
    "E_CHANNEL_PLAIN": 403,
    "E_CHANNEL_PROOF": 403,
    "E_CHANNEL_UNSIGNED": 403,
    "E_CHANNEL_NOT_NOW": 409,
    "E_CHANNEL_RATE_LIMIT": 429,
    "E_CFG_MODEL_BUSY": 409,
    "E_CFG_SECRET_STORED": 409,
    "E_CFG_SETTING_ASKED": 409,
    "E_CFG_MCP_ASKED": 409,
    "E_TOOL_MCP": 409,
    "E_CTX_ARCHIVED": 409,
    "E_CTX_ATTACHMENT_BUSY": 409,
    "E_CTX_ATTACHMENT_DIGEST": 400,
    "E_CTX_ATTACHMENT_FOLDER": 503,
    "E_CTX_ATTACHMENT_ROOM": 409,
    "E_CTX_ATTACHMENT_SIZE": 413,
    "E_CTX_BUSY": 409,
    "E_CTX_KEPT": 409,
    "E_CTX_NO_PICTURE": 409,
    "E_BATCH_NO_PICTURE": 409,
    "E_CTX_QUERY": 400,
    "E_CTX_TITLE": 400,
    "E_GOAL_ASKED": 409,
    "E_GOAL_PAST": 409,
    "E_GOAL_STATE": 409,
    "E_GOAL_UNDER_WAY": 409,
    "E_MEM_WORDS": 400,
    "E_REMINDER_MANY": 409,
    "E_REMINDER_OFF": 409,
    "E_REMINDER_OVER": 409,
    "E_REMINDER_PAST": 400,
    "E_REMINDER_TEXT": 400,
    "E_REMINDER_TIME": 400,
    "E_SANDBOX_NO_UNDO": 409,
}
_BY_FAMILY: tuple[tuple[type[SilasError], int], ...] = (
    (Stopped, 409),
    (ConfigError, 400),
    (ChannelError, 400),
    (PlanFamilyError, 409),
    (ApprovalError, 409),
    (SandboxError, 409),
    (MemoryRefused, 409),
    (DatabaseError, 503),
)
_UNPLANNED = 500

_WORDS: Mapping[int, tuple[str, str]] = {
    404: ("E_CHANNEL_NOT_FOUND", tr_later("There is nothing at this address; see /docs.")),
    405: ("E_CHANNEL_BAD_REQUEST", tr_later("This address takes another method; see /docs.")),
    413: ("E_CHANNEL_TOO_LARGE", tr_later("That is more than Silas reads at once; send less.")),
}
_UNREADABLE = ("E_CHANNEL_BAD_REQUEST", tr_later("The request cannot be read; see /docs."))

_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}\Z")
_KINDS: Mapping[str, str] = {
    "json_invalid": tr_later("is not JSON"),
    "missing": tr_later("is missing"),
    "extra_forbidden": tr_later("is not known here"),
    "string_too_long": tr_later("is too long"),
    "string_too_short": tr_later("is too short"),
    "string_type": tr_later("must be text"),
    "literal_error": tr_later("is not one of the words it may be"),
    "int_parsing": tr_later("must be a whole number"),
    "bool_parsing": tr_later("must be true or false"),
    "greater_than_equal": tr_later("is too small"),
    "less_than_equal": tr_later("is too large"),
    "model_attributes_type": tr_later("must be a JSON object"),
}


def status_of(error: SilasError) -> int:
    """The HTTP status of an error: by its code, else by its family."""
    known = _BY_CODE.get(error.code)
    if known is not None:
        return known
    return next((status for kind, status in _BY_FAMILY if isinstance(error, kind)), _UNPLANNED)


def problem(status: int, code: str, message: str, field: str = "") -> JSONResponse:
    """A refusal as it is sent."""
    answer = Problem(code=code, message=message, field=field).model_dump(exclude_defaults=True)
    return JSONResponse(answer, status, headers={"Cache-Control": "no-store"})


def refusal(error: SilasError) -> JSONResponse:
    """An error as it is sent."""
    words = said_at(COCKPIT, refusal_words(error.message))
    return problem(status_of(error), error.code, words, error.field)


def answer_misfit(error: RequestValidationError) -> JSONResponse:
    """What of a request does not fit, by its name; never what it holds."""
    first = misfits(error)[0]
    where = [str(part) for part in first.loc[1:]]
    named = bool(where) and all(_FIELD.match(part) or part.isdecimal() for part in where)
    what = f"`{'.'.join(where)}`" if named else tr("What was sent")
    words = _KINDS.get(first.kind, tr_later("is not of the right form"))
    return problem(
        400, "E_CHANNEL_BAD_REQUEST", tr("{what} {words}; see /docs.", what=what, words=tr(words))
    )


def _said_no(error: Exception) -> JSONResponse:
    """An error that a request ran into, as it is sent; a mistake of ours goes on."""
    if isinstance(error, RequestValidationError):
        return answer_misfit(error)
    if isinstance(error, HTTPException):
        return framework_error(error)
    known = from_foreign(error)
    if known is None:
        raise error
    return refusal(known)


def framework_error(error: HTTPException) -> JSONResponse:
    """The framework's own refusals in our form."""
    code, words = _WORDS.get(error.status_code, _UNREADABLE)
    return problem(error.status_code, code, tr(words))


class AnsweringRoute(APIRoute):
    """A route whose errors are sentences, wherever it is mounted; made at its first request.

    What it takes and answers with is read from its function, which costs a millisecond and more: a
    tenth of a second for all of a cockpit. Until somebody asks for it, a route knows its address.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        self._given: tuple[str, Callable[..., Any], dict[str, Any]] | None
        self._given = (path, endpoint, given)
        self.path = path
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = {method.upper() for method in given.get("methods") or ("GET",)}

    def __getattr__(self, name: str) -> Any:
        """What is not there yet, there from now on."""
        given = self.__dict__.get("_given")
        if given is None:
            raise AttributeError(name)
        self._given = None
        path, endpoint, rest = given
        super().__init__(path, endpoint, **rest)
        return getattr(self, name)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors answered; a mistake of ours goes on to the server's log."""
        handle = super().get_route_handler()

        async def answer_request(request: Request) -> Response:
            try:
                response = await handle(request)
            except Exception as error:
                session = getattr(request.state, "session", None)
                asked = "" if session else request.headers.get("accept-language", "")
                with speaking_as_asked(asked):
                    return _said_no(error)
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return answer_request


def answer_everywhere(app: FastAPI) -> None:
    """Let also addresses without a route answer in one sentence, and our own mistakes."""

    async def on_http(request: Request, error: Exception) -> Response:
        del request
        return framework_error(error) if isinstance(error, HTTPException) else _mistake()

    async def on_mistake(request: Request, error: Exception) -> Response:
        del request, error
        return _mistake()

    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_mistake)


def _mistake() -> JSONResponse:
    words = tr("Something in Silas itself failed; Activity may say more.")
    return problem(_UNPLANNED, "E_SILAS_UNEXPECTED", words)
