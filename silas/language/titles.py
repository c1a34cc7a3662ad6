"""What Silas's own tools and rules are called where somebody reads of them, by their names."""

from collections.abc import Mapping
from typing import Final

from silas.language.catalogue import tr, tr_later

TOOL_TITLES: Final[Mapping[str, str]] = {
    "shell_exec": tr_later("Run a command"),
    "python_exec": tr_later("Run Python"),
    "file_read": tr_later("Read a file"),
    "file_write": tr_later("Write a file"),
    "file_edit": tr_later("Change a file"),
    "file_list": tr_later("List files"),
    "file_search": tr_later("Search files"),
    "workspace_list": tr_later("List the folder"),
    "workspace_read": tr_later("Read in the folder"),
    "workspace_search": tr_later("Search the folder"),
    "workspace_files": tr_later("Find files in the folder"),
    "workspace_git": tr_later("Look at the folder's history in git"),
    "web_fetch": tr_later("Read a page on the web"),
    "web_search": tr_later("Search the web"),
    "memory_search": tr_later("Search memory"),
    "context_inspection": tr_later("Look up what was said"),
    "ask_owner": tr_later("Ask you"),
    "delegate": tr_later("Hand a task on"),
}
"""A tool of a server or plugin has the name that its maker gave it, and no other."""

GATE_TITLES: Final[Mapping[str, str]] = {
    "input_guard": tr_later("looks at what you write"),
    "secret_scrub": tr_later("takes keys out of answers"),
}
"""A rule of the owner's has the name that he gave it."""


def tool_title(name: str) -> str:
    """A tool of Silas's own in words; any other by its name."""
    return tr(TOOL_TITLES[name]) if name in TOOL_TITLES else name


def gate_title(name: str) -> str:
    """A rule that Silas comes with in words and its name; any other by its name alone."""
    return f"{tr(GATE_TITLES[name])} ({name})" if name in GATE_TITLES else name
