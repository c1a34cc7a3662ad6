"""Which hosts the work of a plan and each of its checks may reach, and how a card says so (B1)."""

from collections.abc import Sequence

from silas.language import tr
from silas.plans.binding import READS, SERVER, Facts
from silas.plans.characters import as_code, show
from silas.sandbox import Endpoint
from silas.sandbox.network.names import DEFAULT_PORTS, endpoints, endpoints_in


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


def lines_of_shown(shown: Facts) -> tuple[str, ...]:
    """Who is shown what the work reads, and where granted servers are; the yes is a yes to this."""
    return tuple(
        tr("shows what it reads to: {name}", name=show(name))
        if shown[name] == READS
        else tr(
            "may reach over the network, through the server {name}: {hosts}",
            name=as_code(name.removeprefix(SERVER)),
            hosts=", ".join(map(host_words, shown[name])),
        )
        for name in sorted(shown)
    )


def host_words(entry: str) -> str:
    """One entry of `network:`; without a port it stands for two."""
    ports = "" if ":" in entry else f" ({tr(' and ').join(map(str, DEFAULT_PORTS))})"
    return as_code(entry) + ports
