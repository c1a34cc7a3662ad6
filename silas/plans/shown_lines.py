"""Who is shown something by the work of a plan, and which hosts are reached, on its card."""

from silas.language import tr
from silas.plans.binding import READS, SERVER, Facts
from silas.plans.characters import as_code, show
from silas.sandbox.network.names import DEFAULT_PORTS


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
