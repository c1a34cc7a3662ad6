"""The command line as a tree, for tests that hold every command to a rule."""

from collections.abc import Iterator

import click

from silas.main import cli


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it."""
    ctx = click.Context(cli)
    waiting = [(name, cli.get_command(ctx, name)) for name in cli.list_commands(ctx)]
    while waiting:
        name, command = waiting.pop()
        assert command is not None
        if isinstance(command, click.Group):
            waiting += [(f"{name} {sub}", each) for sub, each in command.commands.items()]
        else:
            yield name, command
