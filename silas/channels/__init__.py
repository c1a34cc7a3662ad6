"""How people reach Silas: transports and rendering. Channels collect answers and never sign."""

from silas.channels.approved import PreApproved
from silas.channels.cli import CLIChannel
from silas.channels.fallback import TextCards
from silas.channels.live_terminal import LiveTerminal
from silas.channels.text import card_lines, detail_line, parse_reply, render_card

__all__ = [
    "CLIChannel",
    "LiveTerminal",
    "PreApproved",
    "TextCards",
    "card_lines",
    "detail_line",
    "parse_reply",
    "render_card",
]
