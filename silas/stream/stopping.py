"""The owner's word "stop" while work runs: it ends that work, and waits behind no other message."""

from collections.abc import Callable

from silas.language import tr
from silas.stream.models import Incoming
from silas.stream.sender_identity import TERMINAL
from silas.types import OWNER
from silas.work.executor import WorkItemExecutor

AsksToStop = Callable[[str], bool]
"""Whether a message asks to stop what is done, and nothing else."""


async def stop_on_request(incoming: Incoming, executor: WorkItemExecutor, asks: AsksToStop) -> str:
    """Stop all work of this process if the owner says so; what was stopped, in a sentence.

    Only what is typed at the terminal counts, which no page and no other sender can imitate.
    Nothing of the work is applied, and every approval stays as it is: for more there is
    `silas stop`. Where nothing runs the message is one like any other.

    Args:
        incoming: The message.
        executor: What runs.
        asks: Reads the message.

    Returns:
        The words for the owner; empty where nobody asked, or nothing ran any more.
    """
    running = executor.running()
    message = incoming.message
    typed = (message.channel, message.sender_id) == (TERMINAL, OWNER)
    if not running or not typed or not asks(message.text):
        return ""
    ended = [one for one in running if await executor.cancel(one)]
    return tr("Stopped: {join}; nothing of it was applied.", join=", ".join(ended)) if ended else ""
