"""The `gates:` section of the configuration, and the gates that are always on (spec 11)."""

from typing import Any, cast

from pydantic import Field, field_validator

from silas.gates.models import Gate, GateProvider, GateTrigger, GateType
from silas.patterns import check_pattern
from silas.types import FrozenModel

_SECRETS = (
    (r"\bsk-[A-Za-z0-9_-]{16,}", "[API key removed]"),
    (r"\bgh[opsur]_[A-Za-z0-9]{20,}", "[token removed]"),
    (r"\bgithub_pat_[A-Za-z0-9_]{20,}", "[token removed]"),
    (r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "[token removed]"),
    (r"\bAKIA[0-9A-Z]{16}\b", "[access key removed]"),
    (r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*", "[private key removed]"),
)
"""Keys by their issuer's prefix. A secret without one is not recognised."""

_MESSAGE = r"\A[\s\S]{1,100000}\Z"
"""Not empty, and short enough for every model."""


def _default_gates() -> tuple[Gate, ...]:
    """What the base install can run (decision A14)."""
    return (
        Gate(
            name="input_guard",
            on=GateTrigger.every_user_message,
            provider=GateProvider.predicate,
            type=GateType.regex,
            config={
                "normalize": {"pattern": r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "replace": ""},
                "pattern": _MESSAGE,
            },
            on_block="polite_redirect",
        ),
        Gate(
            name="secret_scrub",
            on=GateTrigger.every_agent_response,
            provider=GateProvider.predicate,
            type=GateType.regex,
            config={"normalize": [{"pattern": p, "replace": words} for p, words in _SECRETS]},
            on_block="report",
        ),
    )


class LlmGateConfig(FrozenModel):
    """The model of `llm` gates.

    Attributes:
        model: Its name, as under `models:`.
        temperature: 0 for the same answer twice.
        timeout_seconds: After this the gate counts as failed.
        max_tokens: Longest answer.
    """

    model: str = Field(default="openrouter:anthropic/claude-haiku-4-5", min_length=1)
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    timeout_seconds: float = Field(default=8, gt=0)
    max_tokens: int = Field(default=256, ge=1)


class GatesConfig(FrozenModel):
    """The `gates:` section: gates that apply to everything, and the model of `llm` gates."""

    system: tuple[Gate, ...] = Field(default_factory=_default_gates)
    llm_defaults: LlmGateConfig = LlmGateConfig()

    @field_validator("system")
    @classmethod
    def _can_be_run(cls, gates: tuple[Gate, ...]) -> tuple[Gate, ...]:
        """Names are unique, and a pattern that would be refused is refused now."""
        names = [gate.name for gate in gates]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two gates are named {name}")
        for gate in gates:
            if gate.provider is GateProvider.predicate:
                for pattern in _patterns(gate):
                    check_pattern(pattern)
        return gates


def _patterns(gate: Gate) -> list[str]:
    rules = gate.config.get("normalize", [])
    listed = cast(list[Any], rules if isinstance(rules, list) else [rules])
    found = [cast(dict[str, Any], r).get("pattern") for r in listed if isinstance(r, dict)]
    if gate.type is GateType.regex:
        found.append(gate.config.get("pattern", gate.check))
    return [pattern for pattern in found if isinstance(pattern, str)]
