"""One tiny request to a model, to see whether it answers: `silas doctor --deep`."""

import asyncio
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings, merge_model_settings

from silas.clock import Clock
from silas.errors import from_foreign

_QUESTION = "Answer with the one word: ok"
_MAX_TOKENS = 16  # the least that every provider takes

_BY_STATUS = {
    400: "it refuses the request (400); check the model's name and `base_url`",
    401: "it refuses the key (401); check the key that its variable holds",
    402: "its account has no credit left (402)",
    403: "the key may not use this model (403)",
    404: "it knows no such address or model (404); check the name, and that `base_url` ends in /v1",
    408: "it did not answer in time (408)",
    429: "it limits requests or its quota is used up (429); wait and try again",
}
_BY_CODE = {
    "E_LLM_CONNECTION": "it cannot be reached; start the server, or check `base_url`",
    "E_LLM_TIMEOUT": "it did not answer in time",
}


class ModelProbe(NamedTuple):
    """How a request went: elapsed seconds, and why it failed in one clause; empty if it did not."""

    seconds: float
    fault: str


async def try_model(model: Model, clock: Clock, limit_seconds: float) -> ModelProbe:
    """Ask a model for one word, at most `limit_seconds` long.

    The fault is in our own words: what a server sends back may hold the key it was given.
    """
    began = clock.monotonic()
    settings = merge_model_settings(model.settings, ModelSettings(max_tokens=_MAX_TOKENS))
    asked = asyncio.ensure_future(
        model.request(
            [ModelRequest.user_text_prompt(_QUESTION)], settings, ModelRequestParameters()
        )
    )
    limit = asyncio.ensure_future(clock.sleep(limit_seconds))
    try:
        await asyncio.wait({asked, limit}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            return ModelProbe(limit_seconds, f"it did not answer within {limit_seconds:g} seconds")
        asked.result()
    except Exception as error:
        return ModelProbe(clock.monotonic() - began, _words(error))
    finally:
        for task in (asked, limit):
            task.cancel()
        await asyncio.wait({asked, limit})
    return ModelProbe(clock.monotonic() - began, "")


def address_of(model: Model) -> str:
    """Scheme, host, port and path that a model is asked at; empty where there is no such thing."""
    found = urlsplit(str(getattr(model, "base_url", None) or ""))
    host = found.netloc.rpartition("@")[2]  # a password may stand before it
    return f"{found.scheme}://{host}{found.path}".rstrip("/") if host else ""


def _words(error: Exception) -> str:
    if isinstance(error, ModelHTTPError):
        status = error.status_code
        failing = "fails" if status >= 500 else "answers"
        return _BY_STATUS.get(status, f"it {failing} with HTTP status {status}")
    known = from_foreign(error)
    unread = f"its answer is none that a model gives ({type(error).__name__}); check `base_url`"
    return _BY_CODE.get(known.code if known is not None else "", unread)
