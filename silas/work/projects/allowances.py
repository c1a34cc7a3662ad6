"""What a run may use: its own budget, and of its project's no more than is left (B11)."""

from collections.abc import Iterable
from typing import Final

from silas.language import decimal, group_digits, tr, tr_later
from silas.plans import Budget, BudgetUsed, WorkItem

_LEAST_SECONDS: Final = 1


class Allowances:
    """The budgets of the work under way in this process; what nobody limited has its plan's."""

    def __init__(self) -> None:
        self._limited: dict[str, Budget] = {}

    def of(self, item: WorkItem) -> Budget:
        """What a run of this item may use."""
        return self._limited.get(item.id, item.budget)

    def limit(self, item: WorkItem, budget: Budget) -> None:
        """Let the next run of this item use so much and no more."""
        self._limited[item.id] = budget

    def release(self, item: WorkItem) -> None:
        """Its run is over."""
        self._limited.pop(item.id, None)


def room_for(
    task: WorkItem, project: Budget, used: Iterable[BudgetUsed], reserved: Iterable[Budget]
) -> Budget | None:
    """What a task may use of its project's budget; None where nothing is left for it.

    Tokens, cost and time are shared. How often one task is tried, and asks the planner, is its own.

    Args:
        task: Which is to begin, with what it has used already.
        project: The budget of the whole.
        used: What each task that does not run has used, this one included.
        reserved: What each task that runs may still use and has used.
    """
    spent, held = list(used), list(reserved)
    tokens = project.max_tokens - sum(one.tokens for one in spent)
    tokens -= sum(one.max_tokens for one in held)
    cost = project.max_cost_usd - sum(one.cost_usd for one in spent)
    cost -= sum(one.max_cost_usd for one in held)
    seconds = project.max_wall_time_seconds - sum(one.wall_time_seconds for one in spent)
    seconds -= sum(one.max_wall_time_seconds for one in held)
    free = cost > 0 or project.max_cost_usd == 0
    if tokens <= 0 or seconds < _LEAST_SECONDS or not free:
        return None
    own, before = task.budget, task.budget_used
    return own.model_copy(
        update={
            "max_tokens": min(own.max_tokens, tokens + before.tokens),
            "max_cost_usd": min(own.max_cost_usd, max(cost, 0.0) + before.cost_usd),
            "max_wall_time_seconds": min(
                own.max_wall_time_seconds, int(seconds + before.wall_time_seconds)
            ),
        }
    )


def used_of(project: Budget, used: Iterable[BudgetUsed]) -> str:
    """Which limit of a project leaves no room for a task, in words: how much of how much is used.

    Args:
        project: The budget of the whole.
        used: What each of its tasks has used.
    """
    spent = list(used)
    seconds, whole = sum(one.wall_time_seconds for one in spent), project.max_wall_time_seconds
    if whole - seconds < _LEAST_SECONDS:
        words = tr_later("{used} of {whole} seconds")
        return tr(words, used=group_digits(round(seconds)), whole=group_digits(whole))
    tokens = sum(one.tokens for one in spent)
    if tokens >= project.max_tokens:
        words = tr_later("{used} of {whole} tokens")
        return tr(words, used=group_digits(tokens), whole=group_digits(project.max_tokens))
    cost, most = sum(one.cost_usd for one in spent), project.max_cost_usd
    return tr("${used} of ${whole}", used=decimal(cost, 2), whole=decimal(most, 2))


def short_of(task: WorkItem, room: Budget) -> str:
    """How much less than its own budget a task may use, in words; nothing where it may use it all.

    Args:
        task: As its plan has it.
        room: What `room_for` gave.
    """
    own = task.budget
    if room.max_wall_time_seconds < own.max_wall_time_seconds:
        left = group_digits(room.max_wall_time_seconds)
        whole = group_digits(own.max_wall_time_seconds)
        return tr("{left} of its {whole} seconds", left=left, whole=whole)
    if room.max_tokens < own.max_tokens:
        left, whole = group_digits(room.max_tokens), group_digits(own.max_tokens)
        return tr("{left} of its {whole} tokens", left=left, whole=whole)
    if room.max_cost_usd < own.max_cost_usd:
        left, whole = decimal(room.max_cost_usd, 2), decimal(own.max_cost_usd, 2)
        return tr("${left} of its ${whole}", left=left, whole=whole)
    return ""
