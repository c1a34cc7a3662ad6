"""What an agent call gives back, and what it cost, success or not."""

from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from silas.errors import LLMError

Output_co = TypeVar("Output_co", covariant=True)


@dataclass(frozen=True)
class ModelUsage:
    """What model requests used up.

    Attributes:
        tokens: Input and output together.
        cost_usd: Zero where the price is unknown.
        cost_known: Whether every request had a price.
        requests: Answers received from the model.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    requests: int = 0

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        """Both together; known only if both are."""
        return ModelUsage(
            self.tokens + other.tokens,
            self.cost_usd + other.cost_usd,
            self.cost_known and other.cost_known,
            self.requests + other.requests,
        )


@dataclass(frozen=True)
class StructuredRun(Generic[Output_co]):
    """A structured answer, and how it came about (spec 5.1.0).

    Attributes:
        output: The answer, or that call's deterministic fallback.
        spent: Every attempt of this call together, failed ones included.
        fell_back: The model never answered in form; `output` is Silas's own.
        error: Empty, or `<call>_structured_output_invalid`.
        detail: What was wrong with the model's last answer, for the audit.
        stood_in: A sentence for each model that was away and another answered for.
        prompt: Names the prompt and form that were asked with, for the audit; empty: none was.
        dropped: Parts of the answer that did not fit and that it could do without, for the audit.
    """

    output: Output_co
    spent: ModelUsage
    fell_back: bool = False
    error: str = ""
    detail: str = ""
    stood_in: tuple[str, ...] = ()
    prompt: str = ""
    dropped: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens used by every attempt."""
        return self.spent.tokens

    @property
    def cost_usd(self) -> float:
        """Cost of every attempt; see `cost_known`."""
        return self.spent.cost_usd

    @property
    def cost_known(self) -> bool:
        """Whether the cost is complete."""
        return self.spent.cost_known

    @property
    def requests(self) -> int:
        """Model answers received."""
        return self.spent.requests


class ModelRunFailed(LLMError):
    """The model could not be asked to the end; `spent` is what it used until then."""

    spent: ModelUsage = ModelUsage()

    @classmethod
    def of(cls, error: LLMError, spent: ModelUsage) -> Self:
        """The same failure with what was spent attached."""
        failed = cls(error.message, code=error.code)
        failed.spent = spent
        return failed
