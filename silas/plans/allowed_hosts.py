"""Which hosts the work of a plan and each of its checks may reach (decision B1)."""

from collections.abc import Sequence

from silas.sandbox import Endpoint
from silas.sandbox.network.names import endpoints, endpoints_in


def hosts_of(entries: Sequence[str]) -> tuple[Endpoint, ...]:
    """What a `network:` list allows, each once.

    Raises:
        Refused: An entry is no plain host name.
    """
    return tuple(dict.fromkeys(there for entry in entries for there in endpoints(entry)))


def hosts_of_check(
    network: bool | Sequence[str], run: str, plan: Sequence[str]
) -> tuple[Endpoint, ...]:
    """What one check may reach.

    A list names its hosts. `true` stands for the hosts of the plan and of the addresses written in
    the check's own command, and for no other: the command is approved word for word.

    Args:
        network: The check's own field.
        run: Its command.
        plan: The plan's `network`.

    Raises:
        Refused: An entry is no plain host name.
    """
    if isinstance(network, bool):
        return tuple(dict.fromkeys((*hosts_of(plan), *endpoints_in(run)))) if network else ()
    return hosts_of(network)
