"""Eight providers as Silas is configured for them, and the errors that their references publish."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.openrouter import OpenRouterProvider

from silas.agents import ModelChoice, OutputSetting
from tests.agents.openai_server import Failure, OpenAIServer, Unfinished
from tests.agents.wires import CHAT, GEMINI, MESSAGES, RESPONSES, ROUTER, Json, Wire
from tests.support.waits import SECONDS

_LOOPBACK_OPENROUTER = "SILAS_TEST_OPENROUTER_URL"
_KEY = "test-key-0123456789"


@dataclass(frozen=True)
class Shape:
    """One provider.

    Attributes:
        name: For the test's id.
        model: As `models:` names it.
        wire: What it speaks.
        path: Where a request that is not streamed goes.
        env: Variables that its client reads; `URL` stands for the server, `ROOT` for the same
            without `/v1`.
        own: Whether it is named by `base_url`.
        errors: Its published errors by kind.
    """

    name: str
    model: str
    wire: Wire
    path: str
    env: Mapping[str, str]
    own: bool
    errors: Mapping[str, Failure | Unfinished] = field(hash=False)

    def choice(self, server: OpenAIServer, output: OutputSetting, **more: Any) -> ModelChoice:
        """The line of configuration."""
        more = {"timeout_seconds": SECONDS, "first_token_seconds": SECONDS, **more}
        base_url = server.base_url if self.own else ""
        return ModelChoice(name=self.model, base_url=base_url, output=output, **more)

    def variables(self, server: OpenAIServer) -> dict[str, str]:
        """What its client reads from the environment."""
        root = server.base_url.removesuffix("/v1")
        urls = {"URL": server.base_url, "ROOT": root}
        return {name: urls.get(value, value) for name, value in self.env.items()}

    def forms(self, body: Json) -> str:
        """Which output mode a request of this shape asks for."""
        config: Json = body.get("generationConfig", {})
        text: Json = body.get("text", {}).get("format", {})
        native = (
            body.get("response_format", {}).get("type") == "json_schema"
            or text.get("type") == "json_schema"
            or "output_config" in body
            or "output_format" in body
            or "responseSchema" in config
            or "responseJsonSchema" in config
        )
        if native:
            return "native"
        return "tool" if body.get("tools") else "prompted"


class _LoopbackOpenRouter(OpenRouterProvider):
    """OpenRouter's own provider; its address is no setting, so it is exchanged here."""

    @property
    def base_url(self) -> str:
        return os.environ[_LOOPBACK_OPENROUTER]


def openrouter() -> Model:
    """A `python:` factory, as an owner could write it."""
    return OpenRouterModel(
        "anthropic/claude-sonnet-4-5", provider=_LoopbackOpenRouter(api_key=_KEY)
    )


def _failed(status: int, body: Json, retry_after: str = "") -> Failure:
    headers = {"retry-after": retry_after} if retry_after else {}
    return Failure(status, headers=headers, body=body)


def _openai(status: int, message: str, kind: str, code: Any = None, wait: str = "") -> Failure:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return _failed(status, {"error": error}, wait)


def _anthropic(status: int, kind: str, message: str, wait: str = "") -> Failure:
    error = {"type": kind, "message": message}
    return _failed(status, {"type": "error", "error": error, "request_id": "req_1"}, wait)


def _google(status: int, kind: str, message: str, *details: Json) -> Failure:
    error: Json = {"code": status, "message": message, "status": kind}
    return _failed(status, {"error": {**error, **({"details": details} if details else {})}})


def _router(status: int, message: str, wait: str = "", **metadata: Any) -> Failure:
    error: Json = {"code": status, "message": message}
    return _failed(
        status, {"error": {**error, **({"metadata": metadata} if metadata else {})}}, wait
    )


def _llama(status: int, kind: str, message: str, **more: Any) -> Failure:
    return _failed(status, {"error": {"code": status, "message": message, "type": kind, **more}})


def _vllm(status: int, kind: str, message: str) -> Failure:
    error = {"message": message, "type": kind, "param": None, "code": status}
    return _failed(status, {"error": error})


_FILTER = Unfinished("filter", "")
_OPENAI_ERRORS = {
    "key": _openai(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key"),
    "credit": _openai(
        429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota"
    ),
    "model": _openai(
        404, "The model `x` does not exist", "invalid_request_error", "model_not_found"
    ),
    "rate": _openai(429, "Rate limit reached", "requests", "rate_limit_exceeded", "7"),
    "overload": _openai(503, "The engine is currently overloaded", "server_error"),
    "filter": _FILTER,
    "context": _openai(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9001 tokens. Please reduce the length of the messages.",
        "invalid_request_error",
        "context_length_exceeded",
    ),
}
_OPENAI_KEYS = {"OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": "URL"}

SHAPES = (
    Shape(
        "openai",
        "openai:gpt-6.1-sol",
        RESPONSES,
        "/v1/responses",
        _OPENAI_KEYS,
        False,
        _OPENAI_ERRORS,
    ),
    Shape(
        "openai-chat",
        "openai-chat:gpt-6.1-sol",
        CHAT,
        "/v1/chat/completions",
        _OPENAI_KEYS,
        False,
        _OPENAI_ERRORS,
    ),
    Shape(
        "anthropic",
        "anthropic:claude-sonnet-5-5",
        MESSAGES,
        "/v1/messages",
        {"ANTHROPIC_API_KEY": _KEY, "ANTHROPIC_BASE_URL": "ROOT"},
        False,
        {
            "key": _anthropic(401, "authentication_error", "invalid x-api-key"),
            "credit": _anthropic(
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
            ),
            "billing": _anthropic(402, "billing_error", "There is an issue with your billing"),
            "model": _anthropic(404, "not_found_error", "model: claude-sonnet-5-5"),
            "rate": _anthropic(
                429, "rate_limit_error", "This request would exceed your limit", "7"
            ),
            "overload": _anthropic(529, "overloaded_error", "Overloaded"),
            "filter": _FILTER,
            "context": _anthropic(
                400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"
            ),
        },
    ),
    Shape(
        "google",
        "google:gemini-3.8-flash",
        GEMINI,
        "/v1beta/models/gemini-3.8-flash:generateContent",
        {"GOOGLE_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": "ROOT"},
        False,
        {
            "key": _google(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
            ),
            "credit": _google(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota",
                {
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [
                        {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
                    ],
                },
            ),
            "model": _google(404, "NOT_FOUND", "models/gemini-3.8-flash is not found"),
            "rate": _google(
                429,
                "RESOURCE_EXHAUSTED",
                "Resource has been exhausted",
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
            ),
            "overload": _google(503, "UNAVAILABLE", "The model is overloaded."),
            "filter": _FILTER,
            "context": _google(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1100000) exceeds the maximum number of tokens allowed "
                "(1048576).",
            ),
        },
    ),
    Shape(
        "openrouter",
        "python:tests.agents.shapes:openrouter",
        ROUTER,
        "/v1/chat/completions",
        {_LOOPBACK_OPENROUTER: "URL"},
        False,
        {
            "key": _router(401, "User not found."),
            "credit": _router(402, "Insufficient credits", limit_source="openrouter_credits"),
            "model": _router(404, "No endpoints found for anthropic/claude-sonnet-4-5."),
            "rate": _router(429, "Rate limit exceeded", "7"),
            "overload": _router(503, "There is no available model provider"),
            "moderation": _router(
                403, "Your input was flagged", reasons=["violence"], provider_name="Anthropic"
            ),
            "filter": _FILTER,
            "context": _router(
                400,
                "This endpoint's maximum context length is 8192 tokens. However, you asked "
                "for about 9001 tokens.",
            ),
        },
    ),
    Shape(
        "ollama",
        "ollama:qwen3",
        CHAT,
        "/v1/chat/completions",
        {"OLLAMA_BASE_URL": "URL"},
        False,
        {
            "key": _openai(401, "unauthorized", "authentication_error"),
            "credit": _openai(402, "this model requires a subscription", "api_error"),
            "model": _openai(404, "model 'qwen3' not found", "not_found_error"),
            "rate": _openai(429, "too many concurrent requests", "api_error", None, "7"),
            "overload": _openai(503, "server busy, please try again", "api_error"),
            "filter": _FILTER,
            "context": _openai(
                400, "the input length exceeds the context length", "invalid_request_error"
            ),
        },
    ),
    Shape(
        "llama.cpp",
        "qwen2.5-coder",
        CHAT,
        "/v1/chat/completions",
        {},
        True,
        {
            "key": _llama(401, "authentication_error", "Invalid API Key"),
            "credit": _llama(402, "server_error", "no credit at the gateway"),
            "model": _llama(404, "not_found_error", "model not found"),
            "rate": _failed(429, {"error": {"message": "slots are busy"}}, "7"),
            "overload": _llama(503, "unavailable_error", "Loading model"),
            "filter": _FILTER,
            "context": _llama(
                400,
                "exceed_context_size_error",
                "the request exceeds the available context size, try increasing it",
                n_prompt_tokens=14429,
                n_ctx=8192,
            ),
        },
    ),
    Shape(
        "vllm",
        "Qwen/Qwen3-8B",
        CHAT,
        "/v1/chat/completions",
        {},
        True,
        {
            "key": _failed(401, {"error": "Unauthorized"}),
            "credit": _failed(402, {"error": "no credit at the gateway"}),
            "model": _vllm(404, "NotFoundError", "The model `Qwen/Qwen3-8B` does not exist."),
            "rate": _failed(429, {"error": "too many requests"}, "7"),
            "overload": _vllm(503, "ServiceUnavailableError", "Service unavailable"),
            "filter": _FILTER,
            "context": _vllm(
                400,
                "BadRequestError",
                "This model's maximum context length is 10000 tokens. However, you requested 10515 "
                "tokens (2323 in the messages, 8192 in the completion).",
            ),
        },
    ),
    Shape(
        "lm-studio",
        "qwen3-8b",
        CHAT,
        "/v1/chat/completions",
        {},
        True,
        {
            "key": _failed(401, {"error": "Malformed LM Studio API token provided"}),
            "credit": _failed(402, {"error": "no credit at the gateway"}),
            "model": _openai(404, "Model not found", "invalid_request_error", "model_not_found"),
            "rate": _failed(429, {"error": "too many requests"}, "7"),
            "overload": _failed(503, {"error": "No model is ready"}),
            "filter": _FILTER,
            "context": _failed(
                400,
                {
                    "error": "The number of tokens to keep from the initial prompt is greater than "
                    "the context length (n_keep: 13055>= n_ctx: 4096)."
                },
            ),
        },
    ),
)
"""A local server's 402 and 429 are a gateway's before it; none of them sends one itself."""
