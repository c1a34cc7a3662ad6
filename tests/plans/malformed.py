"""Plans that are wrong, each with where and why."""

from typing import NamedTuple


class Malformed(NamedTuple):
    name: str
    text: str
    line: int
    column: int
    reason: str


def _front(*lines: str, body: str = "Do it.") -> str:
    """A task whose first three lines of front matter are right; `lines` start on line 5."""
    head = ("---", "id: task-x", "type: task", "title: A title")
    return "\n".join((*head, *lines, "---", body, ""))


def _goal(*lines: str) -> str:
    return _front(*lines).replace("type: task", "type: goal")


_GATE = "gates:\n  - name: g\n    on: after_step"

MALFORMED = (
    # the envelope
    Malformed("empty text", "", 1, 1, "no front matter"),
    Malformed(
        "only prose", "Please do it.\nThanks.\n", 1, 1, "starts with a line that is only ---"
    ),
    Malformed("prose before", "Here:\n---\nid: a\n---\nDo it.\n", 1, 1, "no front matter"),
    Malformed("not closed", "\n---\nid: a\n", 2, 1, "not closed"),
    Malformed("empty front matter", "---\n---\nDo it.\n", 1, 1, "empty"),
    Malformed("only a comment", "---\n# nothing\n---\nDo it.\n", 1, 1, "empty"),
    Malformed("open fence", "Sure!\n```markdown\n---\nid: a\n---\nDo it.\n", 2, 1, "never closed"),
    Malformed("indented open fence", "-\n  ```\n  ---\n  id: a\n", 2, 3, "never closed"),
    Malformed(
        "two fences",
        "```\n---\nid: a\n---\nDo\n```\nor\n```\n---\nid: b\n```\n",
        8,
        1,
        "another one",
    ),
    Malformed("fence without plan", "```sh\nls\n```\n", 1, 1, "no front matter"),
    Malformed(
        "error in a fence", f"Hi\n```\n{_front('titel: x')}```\n", 7, 1, "did you mean `title`"
    ),
    Malformed(
        "error in an indented fence",
        "1.\n   ```yaml\n   ---\n   id: a\n   typ: task\n   ---\n   Do\n   ```\n",
        5,
        4,
        "did you mean `type`",
    ),
    Malformed("too large", _front(body="x" * 300_000), 1, 1, "at most 256 KB"),
    Malformed("front matter too large", _front("skills: " + "a" * 70_000), 2, 1, "at most 64 KB"),
    Malformed("half a character", _front(body="a\ud800b"), 6, 2, "U+D800 is not text"),
    Malformed("null byte in the body", _front(body="ab\0"), 6, 3, "U+0000"),
    # characters
    Malformed("escape sequence", _front("domain: a\x1b[31m"), 5, 10, "U+001B"),
    Malformed("right-to-left override", _front("domain: a\u202eb"), 5, 10, "U+202E"),
    Malformed("zero width space", _front("domain: a\u200bb"), 5, 10, "U+200B"),
    Malformed("tag character", _front("domain: a\U000e0041"), 5, 10, "U+E0041"),
    Malformed("lone carriage return", _front("domain: a\rb: c"), 5, 10, "U+000D"),
    Malformed("line separator", _front("domain: a\u2028b"), 5, 10, "U+2028"),
    Malformed("escaped escape", _front('domain: "a\\e[31m"'), 5, 9, "U+001B"),
    Malformed("escaped override", _front('domain: "a\\u202E"'), 5, 9, "U+202E"),
    Malformed("escaped surrogate", _front('domain: "\\uD800"'), 5, 9, "U+D800"),
    Malformed("escape beyond Unicode", _front('domain: "\\UFFFFFFFF"'), 2, 1, "cannot be read"),
    # YAML
    Malformed("a list", "---\n- id\n---\nDo it.\n", 2, 1, "must be a mapping"),
    Malformed("a word", "---\nplan\n---\nDo it.\n", 2, 1, "must be a mapping"),
    Malformed("open bracket", _front("skills: [a, b"), 5, 9, "cannot be read"),
    Malformed(
        "bad indentation", _front("budget:\n   max_tokens: 1\n  max_attempts: 2"), 7, 3, "read"
    ),
    Malformed("open quote", _front('domain: "abc'), 5, 9, "cannot be read"),
    Malformed("tab as indentation", _front("budget:\n\tmax_tokens: 1"), 6, 1, "cannot be read"),
    Malformed("an anchor", _front("skills: &all [a]"), 5, 9, "anchors and aliases"),
    Malformed("an alias", _front("skills: *all"), 5, 9, "anchors and aliases"),
    Malformed("an alias as key", _front("*all : a"), 5, 1, "anchors and aliases"),
    Malformed("a tag", _front("domain: !!python/object:os.system x"), 5, 9, "tags"),
    Malformed("a tag on a key", _front("!!str domain: x"), 5, 1, "tags"),
    Malformed("a second document", _front("--- {a: b}"), 5, 1, "one YAML document"),
    Malformed("a directive", "---\n%YAML 1.1\n--- {id: a}\n---\nDo.\n", 2, 1, "one YAML document"),
    Malformed("a duplicate key", _front("title: Another"), 5, 1, "`title` is given twice"),
    Malformed(
        "a nested duplicate", _front("budget: { max_tokens: 1, max_tokens: 2 }"), 5, 26, "line 5"
    ),
    Malformed("a list as key", _front("? [a, b]\n: c"), 5, 3, "key must be plain text"),
    Malformed("too deep", _front("tools: " + "[" * 5000), 5, 20, "deeper than 12"),
    # keys
    Malformed("an unknown key", _front("verfy: []"), 5, 1, "did you mean `verify`?"),
    Malformed("a far-off key", _front("xyzzy: 1"), 5, 1, "known are id, type"),
    Malformed("a merge key", _front("<<: { a: b }"), 5, 1, "unknown key `<<`"),
    Malformed("body as a key", _front("body: Do that."), 5, 1, "prose below"),
    Malformed("unknown in budget", _front("budget: { max_token: 1 }"), 5, 11, "`max_tokens`"),
    Malformed(
        "unknown in a check",
        _front("verify:\n  - name: a\n    run: b\n    expects: { exit_code: 0 }"),
        6,
        5,
        "`expect` is missing in `verify[0]`",
    ),
    Malformed(
        "unknown expectation",
        _front("verify:\n  - { name: a, run: b, expect: { exitcode: 0 } }"),
        6,
        34,
        "unknown key `exitcode`; did you mean `exit_code`?",
    ),
    Malformed("unknown in a gate", _front(f"{_GATE}\n    afterstep: 1"), 8, 5, "`after_step`"),
    *(
        Malformed(
            f"runtime field {name}", _front(f"{name}: {value}"), 5, 1, "belongs to the runtime"
        )
        for name, value in (
            ("status", "done"),
            ("attempts", "0"),
            ("approval_token", "null"),
            ("budget_used", "{}"),
            ("verification_results", "[]"),
            ("created_at", "2026-01-01"),
        )
    ),
    # missing
    Malformed("no id", "---\ntype: task\ntitle: T\n---\nDo.\n", 2, 1, "`id` is missing"),
    Malformed("no type", "---\nid: a\ntitle: T\n---\nDo.\n", 2, 1, "`type` is missing"),
    Malformed("no title", "---\nid: a\ntype: task\n---\nDo.\n", 2, 1, "`title` is missing"),
    Malformed(
        "check without expect",
        _front("verify:\n  - { name: a, run: b }"),
        6,
        5,
        "`expect` is missing",
    ),
    Malformed("no briefing", _front(body=" \n"), 5, 1, "needs a briefing"),
    # types and values
    Malformed(
        "a number as id", "---\nid: 7\ntype: task\ntitle: T\n---\nDo.\n", 2, 5, "put it in quotes"
    ),
    Malformed("no value", "---\nid: a\ntype: task\ntitle:\n---\nDo.\n", 4, 7, "must be text"),
    Malformed("an empty id", '---\nid: ""\ntype: task\ntitle: T\n---\nDo.\n', 2, 5, "not be empty"),
    Malformed("a path as id", "---\nid: ../x\ntype: task\ntitle: T\n---\nDo.\n", 2, 5, "not an id"),
    Malformed(
        "unknown type", "---\nid: a\ntype: tsk\ntitle: T\n---\nDo.\n", 3, 7, "'task', 'project'"
    ),
    Malformed("skills as text", _front("skills: coding"), 5, 9, "must be a list"),
    Malformed("skills as nothing", _front("skills:"), 5, 8, "must be a list"),
    Malformed("a number as skill", _front("skills: [a, 3]"), 5, 13, "`skills[1]` must be text"),
    Malformed("tokens as text", _front('budget: { max_tokens: "5" }'), 5, 23, "whole number"),
    Malformed("tokens as truth", _front("budget: { max_tokens: true }"), 5, 23, "whole number"),
    Malformed("no tokens", _front("budget: { max_tokens: 0 }"), 5, 23, "at least 1"),
    Malformed("negative cost", _front("budget: { max_cost_usd: -1 }"), 5, 25, "at least 0"),
    Malformed("endless cost", _front("budget: { max_cost_usd: .inf }"), 5, 25, "a number"),
    Malformed("cost beyond numbers", _front("budget: { max_cost_usd: 1e999 }"), 5, 25, "a number"),
    Malformed("a huge number", _front(f"budget: {{ max_tokens: {'9' * 5000} }}"), 5, 23, "whole"),
    Malformed("budget as number", _front("budget: 5"), 5, 9, "must be a mapping"),
    Malformed("approval as word", _front("needs_approval: no"), 5, 17, "true or false"),
    Malformed("unknown mode", _front("interaction_mode: yolo"), 5, 19, "'act_and_report'"),
    Malformed("unknown agent", _front("agent: cloud"), 5, 8, "'ephemeral' or 'stream'"),
    Malformed("a task in the stream", _front("agent: stream"), 5, 8, "must use agent: ephemeral"),
    Malformed(
        "two expectations",
        _front("verify:\n  - name: a\n    run: b\n    expect: { exit_code: 0, equals: x }"),
        8,
        13,
        "exactly one",
    ),
    Malformed(
        "no time for a check",
        _front("verify: [{ name: a, run: b, timeout: 0, expect: { exit_code: 0 } }]"),
        5,
        38,
        "at least 1",
    ),
    Malformed(
        "unknown trigger", _front("gates:\n  - { name: g, on: whenever }"), 6, 20, "'after_step'"
    ),
    Malformed(
        "unknown escalation",
        _front("escalation:\n  stop:\n    action: explode"),
        7,
        13,
        "'report', 'escalate_human'",
    ),
    Malformed("tools as names", _front("tools: [web]"), 5, 9, "must be a mapping"),
    # rules
    Malformed(
        "a title of two lines", _front("domain: a").replace("A title", '"A\\nB"'), 4, 8, "one line"
    ),
    Malformed("tasks in a task", _front("tasks: [a]"), 5, 8, "only a project has"),
    Malformed("a schedule in a task", _front("schedule: always_on"), 5, 11, "only a goal has"),
    Malformed("four fields of cron", _goal('schedule: "* * * *"'), 5, 11, "5 fields"),
    Malformed("a minute too late", _goal('schedule: "60 * * * *"'), 5, 11, "bad minute"),
    Malformed("a step of nothing", _goal('schedule: "*/0 * * * *"'), 5, 11, "bad minute"),
    Malformed("a range backwards", _goal('schedule: "0 9-5 * * *"'), 5, 11, "bad hour"),
    Malformed("a day that never comes", _goal('schedule: "0 0 30 2 *"'), 5, 11, "it never comes"),
    Malformed("a day too late", _goal('schedule: "0 0 * * 9"'), 5, 11, "bad day-of-week"),
    Malformed(
        "sometimes",
        _goal("schedule: sometimes"),
        5,
        11,
        "always_on, a moment with its offset or a cron",
    ),
    Malformed("itself as dependency", _front("depends_on: [task-x]"), 5, 14, "names itself"),
    Malformed("the same task twice", _front("depends_on: [a, a]"), 5, 17, "given twice"),
    Malformed(
        "two checks of a name",
        _front(
            "verify:",
            "  - { name: a, run: b, expect: { exit_code: 0 } }",
            "  - { name: a, run: c, expect: { exit_code: 0 } }",
        ),
        7,
        13,
        "'a' is used twice in `verify`",
    ),
    Malformed(
        "two gates of a name",
        _front("gates: [{ name: g, on: on_tool_call }, { name: g, on: on_tool_call }]"),
        5,
        48,
        "used twice in `gates`",
    ),
    Malformed("a gate without its step", _front(_GATE), 6, 5, "`after_step` says which"),
    Malformed("a gate after step zero", _front(f"{_GATE}\n    after_step: 0"), 8, 17, "from 1"),
    Malformed(
        "a step for another trigger",
        _front("gates: [{ name: g, on: on_tool_call, after_step: 1 }]"),
        5,
        50,
        "use on: after_step",
    ),
    Malformed(
        "an expected pattern",
        _front('verify: [{ name: a, run: b, expect: { regex: "(" } }]'),
        5,
        46,
        "not valid",
    ),
    Malformed(
        "a gate's pattern",
        _front('gates: [{ name: g, on: on_tool_call, type: regex, config: { pattern: "[" } }]'),
        5,
        70,
        "not valid",
    ),
    Malformed(
        "a gate's pattern to normalise by",
        _front('gates: [{ name: g, on: on_tool_call, config: { normalize: [{ pattern: "[" }] } }]'),
        5,
        71,
        "not valid",
    ),
    Malformed(
        "a gate's expected pattern",
        _front('gates: [{ name: g, on: on_tool_call, check_expect: { regex: "(a+)+" } }]'),
        5,
        61,
        "repeat",
    ),
    Malformed(
        "a file outside",
        _front("verify: [{ name: a, run: b, expect: { file_exists: ../../etc/shadow } }]"),
        5,
        52,
        "without `..`",
    ),
    Malformed("a relative workspace", _front("workspace: src"), 5, 12, "absolute"),
    Malformed("a workspace at home", _front("workspace: ~/src"), 5, 12, "absolute"),
    Malformed("a workspace above", _front("workspace: /a/../../etc"), 5, 12, "`..`"),
    Malformed("everything as workspace", _front("workspace: //./"), 5, 12, "whole file system"),
    Malformed("a workspace of two lines", _front('workspace: "/a\\nb"'), 5, 12, "line breaks"),
    Malformed("a relative path to read", _front("read: [/a, b]"), 5, 12, "`read[1]`"),
    Malformed("everything to read", _front("read: [/]"), 5, 8, "whole file system"),
    Malformed("a URL as host", _front("network: ['https://a.example']"), 5, 11, "host name"),
    Malformed("all hosts", _front("network: ['*']"), 5, 11, "wildcard"),
    Malformed("an address as host", _front("network: [a.example, 127.0.0.1]"), 5, 22, "IP address"),
    Malformed("a host of one word", _front("network: [localhost]"), 5, 11, "full host name"),
    Malformed("a punycode host", _front("network: [xn--a.example]"), 5, 11, "punycode"),
    Malformed("a host with a dot", _front("network: [a.example.]"), 5, 11, "end with a dot"),
    Malformed("a user at a host", _front("network: [u@a.example]"), 5, 11, "user name"),
    Malformed("a port of zero", _front("network: ['a.example:0']"), 5, 11, "port"),
    Malformed(
        "an address in a check",
        _front("verify: [{ name: a, run: b, expect: { exit_code: 0 }, network: ['::1'] }]"),
        5,
        65,
        "IP address",
    ),
    Malformed(
        "a word as a check's network",
        _front("verify: [{ name: a, run: b, expect: { exit_code: 0 }, network: all }]"),
        5,
        64,
        "true, false or a list",
    ),
    Malformed(
        "a number as a check's host",
        _front("verify: [{ name: a, run: b, expect: { exit_code: 0 }, network: [1] }]"),
        5,
        64,
        "true, false or a list",
    ),
    # grants
    Malformed("a grant without tool", _front("tools: [{ args: {} }]"), 5, 9, "which tool"),
    Malformed("a grant of another key", _front("tools: [{ url: x }]"), 5, 16, "known are `tool`"),
    Malformed("an empty tool", _front('tools: [{ tool: "" }]'), 5, 17, "named exactly"),
    Malformed("a tool by pattern", _front("tools: [{ tool: send_* }]"), 5, 17, "named exactly"),
    Malformed(
        "a misspelt key of a grant",
        _front("tools:\n  - tool: t\n    arg: { a: 1 }"),
        7,
        10,
        "did you mean `args`?",
    ),
    Malformed("no calls", _front("tools:\n  - tool: t\n    times: 0"), 7, 12, "from 1 to 1,000"),
    Malformed(
        "arguments as a list", _front("tools: [{ tool: t, args: [a] }]"), 5, 26, "must be a mapping"
    ),
    Malformed(
        "a slot of no type",
        _front("tools:\n  - tool: t\n    args:\n      to: { slot: emial, from: owner }"),
        8,
        19,
        "did you mean `email`?",
    ),
    Malformed(
        "a slot from nowhere",
        _front("tools:\n  - tool: t\n    args:\n      to: { slot: email }"),
        8,
        11,
        "where its value may come from",
    ),
    Malformed(
        "a slot from the web",
        _front("tools: [{ tool: t, args: { a: { slot: text, from: [owner, web] } } }]"),
        5,
        59,
        "owner, plan, tool NAME or any",
    ),
    Malformed(
        "a bad slot in a list",
        _front("tools: [{ tool: t, args: { a: [{ slot: emial, from: owner }] } }]"),
        5,
        40,
        "did you mean `email`",
    ),
    Malformed(
        "a grant's endless pattern",
        _front('tools: [{ tool: t, args: { a: { pattern: "(a+)+" } } }]'),
        5,
        42,
        "without nesting",
    ),
    Malformed(
        "a grant's possessive group",
        _front('tools: [{ tool: t, args: { a: { pattern: "(ab)*+c" } } }]'),
        5,
        42,
        "without the last +",
    ),
    Malformed(
        "a slot without end",
        _front("tools: [{ tool: t, args: { a: { slot: text, from: any, max_chars: 1e9 } } }]"),
        5,
        67,
        "from 1 to 100,000",
    ),
    Malformed(
        "a part as argument", _front("tools: [{ tool: t, args: { a.b: 1 } }]"), 5, 33, "letters"
    ),
)
