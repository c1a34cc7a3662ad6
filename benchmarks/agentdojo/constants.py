"""The attackers' constants under other names, so that no figure rests on a value of the suite."""

import json

from benchmarks.agentdojo.suites import Suite
from benchmarks.agentdojo.words import Disguise, renamed


def plain() -> Disguise:
    """The suite's own words."""
    return Disguise({})


def disguise(suite: Suite, seed: int) -> Disguise:
    """New words for every word that only the attackers of a suite use; the same form, by chance.

    Words that stand in the world, in a user's prompt or in a tool's schema stay.
    """
    clean = suite.environment(next(iter(suite.users)), None)
    calls = [call for one in suite.injections for call in suite.injection_calls(one, clean)]
    prompts = [task.PROMPT for task in suite.users.values()]
    return renamed(
        json.loads(json.dumps([call.args for call in calls], default=str)),
        [clean.model_dump(mode="json"), *prompts],
        [tool.parameters.model_json_schema() for tool in suite.suite.tools],
        f"{seed}:{suite.name}",
    )
