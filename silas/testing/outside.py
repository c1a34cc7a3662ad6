"""A network of the test's own: names, public addresses, and the loopback servers behind them."""

import asyncio
from collections.abc import Mapping, Sequence

from silas.sandbox.network.outside import Streams


class FakeOutside:
    """Stands where the proxy meets the network; only what a test names is there.

    Args:
        names: The addresses of each name; what is not named does not resolve. Several lists in a
            row are the answers to the first question, the second, and so on; the last one stays.
        servers: For each address, the loopback port on which it is played.
    """

    def __init__(
        self,
        names: Mapping[str, Sequence[str] | Sequence[Sequence[str]]],
        servers: Mapping[str, int],
    ) -> None:
        self._names = {name: _answers(given) for name, given in names.items()}
        self._servers = dict(servers)
        self.resolved: list[str] = []
        self.connected: list[tuple[str, int]] = []

    async def resolve(self, host: str) -> Sequence[str]:
        """The next answer for this name."""
        self.resolved.append(host)
        answers = self._names.get(host)
        if answers is None:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int) -> Streams:
        """Connect to the loopback server that plays this address."""
        self.connected.append((address, port))
        return await asyncio.open_connection("127.0.0.1", self._servers[address])


def _answers(given: Sequence[str] | Sequence[Sequence[str]]) -> list[Sequence[str]]:
    one = [address for address in given if isinstance(address, str)]
    return [one] if one else [answer for answer in given if not isinstance(answer, str)]
