"""Runbooks and a workspace for the browser tests: quick, real, and one that waits to be let go."""

from pathlib import Path

_HEAD = """\
---
runbook:
  phrases: [{phrase}]
  parameters:
    workspace:
      description: the directory of the work, as an absolute path
      pattern: '/.+'
      example: /home/me/project
id: {name}
type: task
title: {title}
interaction_mode: act_and_report
workspace: $workspace
read: [{read}]
budget: {{ max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 600, max_attempts: 1 }}
verify:
  - name: result_is_there
    run: "test -s result.txt"
    expect: {{ exit_code: 0 }}
---

# What to do

{steps}
"""

COPY = "copy the notes"
"""What to say for work that writes `result.txt` and is verified at once."""

SLOWLY = "copy the notes slowly"
"""What to say for work that goes on until `Signals.go`."""

_QUICK = """\
```sh
cp input.txt result.txt
```
"""
_SLOW = """\
```python
import os, time
print("waiting for the word", flush=True)
for _ in range(5000):
    if os.path.exists("{signals}/go"):
        break
    time.sleep(0.1)
```

{quick}"""


class Signals:
    """Lets waiting work go on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "signals"
        self.folder.mkdir()

    def go(self) -> None:
        """From now on nothing waits."""
        (self.folder / "go").touch()


def write_library(folder: Path, signals: Signals) -> Path:
    """The runbooks, in a directory for `plans_dirs`."""
    plans = folder / "plans"
    plans.mkdir()
    quick = _HEAD.format(phrase=COPY, name="copy", title="Copy the notes", read="", steps=_QUICK)
    slow = _HEAD.format(
        phrase=SLOWLY,
        name="copy-slowly",
        title="Copy the notes, slowly",
        read=signals.folder,
        steps=_SLOW.format(signals=signals.folder, quick=_QUICK),
    )
    (plans / "copy.md").write_text(quick, encoding="utf-8")
    (plans / "copy-slowly.md").write_text(slow, encoding="utf-8")
    return plans
