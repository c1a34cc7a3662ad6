"""How what was read is named, so that all of it can be found and forgotten."""


def answered_by(tool_name: str, where: str) -> str:
    """The source of a tool's answer, as memories and context say it."""
    return f"tool:{tool_name} {where}".rstrip()
