"""The scorer: which parts of a full context matter least (spec 5.7). Its answer is advice."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from silas.agents.choice import OutputSetting
from silas.agents.models import ScorerGroup, ScorerOutput
from silas.clock import Clock
from silas.context import ContextItem, ScorerGroups, fence
from silas.errors import SilasError

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model

PATIENCE: Final = 2.0
"""Seconds until the rules decide without it; the owner waits meanwhile."""

PATIENCE_OF_OWN: Final = 20.0
"""Seconds for a server of the owner's own, which reads a prompt at the pace of one machine."""

_BEGINNING = 240  # characters of a block that are shown; enough to tell what it is about
_RECENT = 4000  # characters of the recent turns
_BLOCKS = 300  # of the items, the first that would leave
_REQUESTS = 2  # an answer, and one retry


class ScorerAgent:
    """Asks a model for groups of items that may leave; made once, used by every scope.

    Args:
        model: Any PydanticAI model; a small one.
        clock: Ends the wait.
        output: How the model is made to answer in form.
    """

    def __init__(
        self,
        model: "Model",
        clock: Clock,
        *,
        output: OutputSetting,
        capabilities: "Sequence[AbstractCapability[Any]]" = (),
    ) -> None:
        from silas.agents.role import Role  # noqa: PLC0415 - PydanticAI is heavy

        def role_on(on: "Model", form: OutputSetting) -> Role:
            return Role(on, clock, form, "scorer", capabilities)

        self._role_on = role_on
        self._role = self._role_on(model, output)
        self._clock = clock

    def ask_from_now_on(self, model: "Model", output: OutputSetting) -> None:
        """Let another model advise."""
        self._role = self._role_on(model, output)

    @property
    def _time_limit(self) -> float:
        return PATIENCE_OF_OWN if self._role.on_own_server else PATIENCE

    async def __call__(self, goal: str, recent: str, items: Sequence[ContextItem]) -> ScorerGroups:
        """Advice, or why there is none: `missing` says so where the model failed or was slow."""
        shown = {f"b{number}": item for number, item in enumerate(items[:_BLOCKS], 1)}
        call = asyncio.ensure_future(self._ask(_prompt(goal, recent, shown)))
        limit = asyncio.ensure_future(self._clock.sleep(self._time_limit))
        try:
            await asyncio.wait({call, limit}, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                return ScorerGroups(
                    missing=f"the scorer took longer than {self._time_limit:g} seconds"
                )
            output = call.result()
        except Exception as error:  # whatever it is, room is made without it
            code = error.code if isinstance(error, SilasError) else type(error).__name__
            return ScorerGroups(missing=f"the scorer failed ({code})")
        finally:
            call.cancel()
            limit.cancel()
        if output is None:
            return ScorerGroups(missing="the scorer did not answer in form")
        return ScorerGroups(_ids(output.keep_groups, shown), _ids(output.evict_groups, shown))

    async def _ask(self, prompt: str) -> ScorerOutput | None:
        from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - heavy

        from silas.agents.calls import SCORER  # noqa: PLC0415 - with run
        from silas.agents.run import CallContext, run_structured_agent  # noqa: PLC0415 - heavy

        asking = CallContext(deps=None, limits=UsageLimits(request_limit=_REQUESTS))
        run = await run_structured_agent(self._role, prompt, SCORER, asking)
        return None if run.fell_back else run.output


def _prompt(goal: str, recent: str, shown: dict[str, ContextItem]) -> str:
    """Everything in blocks that nothing in them can end; a model must not obey what it judges."""
    told = [("goal", goal), ("recent", recent[-_RECENT:])]
    blocks = [_block((kind,), text) for kind, text in told if text]
    for ctx_id, item in shown.items():
        size = f"{item.token_count} tokens"
        parts = ("block", f"id: {ctx_id}", item.kind, f"turn {item.turn_number}", size)
        blocks.append(_block(parts, item.content[:_BEGINNING]))
    return "\n\n".join(blocks)


def _block(parts: tuple[str, ...], text: str) -> str:
    return fence(parts, text, marked=True).around(text)


def _ids(
    groups: Sequence[ScorerGroup], shown: dict[str, ContextItem]
) -> tuple[tuple[str, ...], ...]:
    """The items' own ids; what was never shown is left out."""
    return tuple(
        tuple(shown[name].ctx_id for name in group.block_ids if name in shown) for group in groups
    )
