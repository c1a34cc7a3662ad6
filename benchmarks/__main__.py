"""`python -m benchmarks [NAME ...]`: run all or some, print each figure."""

import sys
from importlib import import_module

NAMES = (
    "turn",
    "first_words",
    "pause",
    "tool_door",
    "audit_chain",
    "approval_token",
    "mutations",
    "sandbox_spawn",
    "workspace",
    "emergency_stop",
    "startup",
    "scrub",
    "context",
    "cockpit",
    "long_history",
    "flood",
    "memory_scale",
    "idle",
)


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(f"no benchmark named {unknown[0]}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in wanted or NAMES:
        module = import_module(f"benchmarks.{name}")
        print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        for figure, value in module.measure().items():
            print(f"  {figure:44} {value:12,.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
