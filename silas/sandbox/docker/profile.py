"""The table of refused system calls as a profile for a container engine.

The engine translates names through its own library, judges all 64 bits of an argument, and knows
nothing of calls newer than itself. So this is the coarser wall: each run loads the exact filter of
`silas.sandbox.seccomp` once more, from inside.
"""

import json
from typing import Any

from silas.sandbox.seccomp import Condition, Machine, SeccompRule, rules

_ARCHITECTURE: dict[Machine, str] = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_LOW_HALF = 0xFFFFFFFF


def _single_bits(condition: Condition) -> list[dict[str, Any]]:
    """Each bit of a mask alone; the engine cannot ask for any of several at once."""
    mask = condition.values[0]
    bits = [1 << at for at in range(32) if mask >> at & 1]
    return [
        {"index": condition.argument, "op": "SCMP_CMP_MASKED_EQ", "value": bit, "valueTwo": bit}
        for bit in bits
    ]


def _arguments(rule: SeccompRule) -> list[list[dict[str, Any]]]:
    """Which sets of arguments are refused; none for a rule that cannot be said this way."""
    sets: list[list[dict[str, Any]]] = [[]]
    for condition in rule.conditions:
        if condition.test == "none_of":
            return []
        if condition.test == "bits":
            fits = _single_bits(condition)
        else:
            value = condition.values[0]
            fits = [
                {
                    "index": condition.argument,
                    "op": "SCMP_CMP_MASKED_EQ",
                    "value": _LOW_HALF,
                    "valueTwo": value,
                }
            ]
        sets = [[*earlier, fit] for earlier in sets for fit in fits]
    return sets


_OF_THE_STARTER = [("unshare", _single_bits(Condition(0, "bits", (0x10000000,))))]
"""The starter makes the command's user namespace, and then refuses to make another."""


def profile(machine: Machine) -> bytes:
    """The profile as `--security-opt seccomp=FILE` reads it."""
    refused: list[dict[str, Any]] = [
        {"names": [rule.call], "action": "SCMP_ACT_ERRNO", "errnoRet": rule.error, "args": args}
        for rule in rules()
        if rule.number(machine) is not None
        for args in _arguments(rule)
        if (rule.call, args) not in _OF_THE_STARTER
    ]
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "architectures": [_ARCHITECTURE[machine]],
            "syscalls": refused,
        }
    ).encode()
