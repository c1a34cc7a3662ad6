"""Why a server of tools is out of use, told to people; models and tool lists read English."""

from typing import Final

from silas.language.catalogue import tr_later

_DRIFTS: Final = (
    tr_later("changed since you trusted it: {names}; {why}"),
    tr_later("changed since you trusted it: {names}"),
    tr_later("new since you trusted it: {names}; {why}"),
    tr_later("new since you trusted it: {names}"),
    tr_later("gone since you trusted it: {names}"),
)

SERVER_REASONS: Final = (
    tr_later("The MCP server {name} is out of use: {why}."),
    tr_later("the MCP server {name} is not there: {why}"),
    tr_later("it is not what you trusted; look at it with `silas mcp trust {name}`"),
    tr_later("it is gone; look at it with `silas mcp trust {name}`"),
    tr_later("{why}; look at its tools with `silas mcp trust {name}`"),
    *_DRIFTS,
    tr_later("never trusted"),
    tr_later("its entry in the configuration changed"),
    tr_later("no longer trusted"),
    tr_later("it was looked at again elsewhere"),
    tr_later("it was not reached yet"),
    tr_later("it did not answer a call"),
    tr_later("it took too long"),
    tr_later("it says nothing any more"),
    tr_later("it ended: exit code {code}, {said}"),
    tr_later("it ended: exit code {code}"),
    tr_later("it ended: {ended_by}"),
    tr_later("nobody answers at {address}"),
    tr_later("{address} takes too long to answer"),
    tr_later("the connection to {address} broke off"),
    tr_later("what it says is not of the protocol"),
)
"""The first that fits; what is longer comes before its parts."""
