"""How a plan is wrong, as `refusal_words` tells it: its place, and what to do (spec 5.2, 8.2).

A plan's keys and values stay as they are written. What a library for patterns or cron finds wrong
stays in its own words.
"""

from typing import Final

from silas.language.catalogue import tr_later

PLACES: Final = (
    tr_later("line {line}, column {column}: {wrong} (in {path})"),
    tr_later("line {line}, column {column}: {wrong}"),
)
"""Where a plan is wrong, and how; see `PLAN_FAULTS`."""

PLACES_IN_FILES: Final = (tr_later("{name}, line {line}, column {column}: {wrong}"),)
"""The same, of a named file; behind those that end in a full stop."""

PLAN_FAULTS: Final = (
    tr_later("in the task {task}, {wrong}"),
    tr_later("the task {task} is given twice; leave one of them"),
    tr_later("the task {task}: {wrong}"),
    tr_later("it has the id {other}; give it the id {task}"),
    tr_later("it belongs to {other}; take `parent` out of it"),
    tr_later("there is no front matter; a plan starts with a line that is only ---"),
    tr_later("the front matter is not closed; end it with a line that is only ---"),
    tr_later("the front matter is empty; a plan needs at least id, type and title"),
    tr_later("the front matter must be a mapping, lines like `title: Fix the build`"),
    tr_later("the front matter has at most {most} KB; put prose into the body"),
    tr_later("a plan has at most {most} KB; shorten it"),
    tr_later("the code fence is never closed, so the plan may be cut off; close it"),
    tr_later(
        "after the plan's code fence comes another one, so its end is not certain; give the plan a "
        "fence of four backticks"
    ),
    tr_later("{character} is not text; remove it"),
    tr_later("{character} is invisible or a control character; remove it"),
    tr_later("{character} is invisible or a control character; remove its escape"),
    tr_later("the YAML cannot be read: {yaml}"),
    tr_later("only one YAML document is allowed, without directives"),
    tr_later("only one YAML document is allowed"),
    tr_later("anchors and aliases (& and *) are not allowed; write it out or quote it"),
    tr_later("tags (!) are not allowed; quote text that starts with one"),
    tr_later("nested deeper than {deepest} levels; flatten it"),
    tr_later("a key must be plain text"),
    tr_later("the key `{key}` is given twice; the first is on line {first}"),
    tr_later("`{key}` belongs to the runtime; a plan cannot set it"),
    tr_later("the body is the prose below the front matter"),
    tr_later("a task needs a briefing below the front matter: what to do, in prose"),
    tr_later("unknown key `{key}`; did you mean `{near}`?"),
    tr_later("unknown key `{key}`; known are {known}"),
    tr_later("`{key}` is missing in `{within}`"),
    tr_later("`{key}` is missing"),
    tr_later("`writes` is empty; give `none` or a list of paths"),
    tr_later("`{key}` must be text; put it in quotes"),
    tr_later("`{key}` must not be empty"),
    tr_later("`{key}` must be a whole number, without quotes"),
    tr_later("`{key}` must be a number, without quotes"),
    tr_later("`{key}` must be true or false"),
    tr_later("`{key}` must be a list, like [a, b]"),
    tr_later("`{key}` must be a mapping, like {example}"),
    tr_later("`{key}` must be at least {least}"),
    tr_later("`{key}` must be at most {most}"),
    tr_later("`{key}` must be one line of at most {most} characters"),
    tr_later("`{key}` must be one path without `..`"),
    tr_later("`{key}` must be an absolute path, starting with / (no ~, no variables)"),
    tr_later("`{key}` must not contain `..` or line breaks"),
    tr_later("`{key}` must not be the whole file system"),
    tr_later("`{key}` must not contain control characters"),
    tr_later("`{key}` must not contain `..`"),
    tr_later("`{key}` has `**` inside a name; it stands alone between slashes, as in `docs/**`"),
    tr_later("`{key}` names files, and the plan has no `workspace`"),
    tr_later("`{key}` lies outside the workspace; give a path under it"),
    tr_later("`{key}` must name something under the workspace"),
    tr_later("`{key}` must be a full host name like pypi.org, without scheme, path or wildcard"),
    tr_later("`{key}` must be a host name, not an IP address"),
    tr_later("`{key}` must not end with a dot"),
    tr_later(
        "`{key}` must be plain ASCII; punycode and other alphabets look like what they are not"
    ),
    tr_later("`{key}` must not carry a user name"),
    tr_later("`{key}` must have a port from 1 to 65535, written plainly"),
    tr_later("`{key}`: must be true, false or a list of host names"),
    tr_later("`{key}` must be always_on, a moment with its offset or a cron expression: {wrong}"),
    tr_later("`{key}`: must be a moment with its offset, like {example}"),
    tr_later(
        "`{key}` limits how often work starts without asking, and this goal only reports; leave it "
        "out, or say what is done with `on_failure: spawn_task` or `cycle: work`"
    ),
    tr_later(
        "`{key}` limits how often work starts without asking, and this goal asks each time; leave "
        "it out"
    ),
    tr_later("`{key}` must say `uses`, `until` or both"),
    tr_later("{zone} is not a time zone; use a name such as Europe/Vienna"),
    tr_later("it has 5 fields separated by blanks, not {many}"),
    tr_later("it has digits, names and signs of ASCII only"),
    tr_later("it never comes, because none of its months has such a day"),
    tr_later("{words}; fields are like 5, 1-5, */10 or 1,15 ({fields})"),
    tr_later(
        "`{key}` is not an id: an id has letters, digits and . _ : - only, starts with a letter or "
        "digit, at most 128"
    ),
    tr_later("`{key}` names itself or is given twice"),
    tr_later("a {kind} has no `{key}`; only a project has"),
    tr_later("a {kind} has no `{key}`; only a goal has"),
    tr_later("`{key}`: a {kind} must use agent: ephemeral; only a goal may use stream"),
    tr_later("the name {name} is used twice in `{key}`"),
    tr_later("gate {gate} fires after a step; `after_step` says which, from 1"),
    tr_later("gate {gate} has `after_step` but fires on {trigger}; use on: after_step"),
    tr_later(
        "`credential_refs` names each secret as `silas secrets list` does: NAME: ref_ and 32 hex "
        "digits"
    ),
    tr_later("the pattern {pattern} is not valid: {words}"),
    tr_later("a pattern has at most {most} characters"),
    tr_later("a pattern may not use verbose mode"),
    tr_later("the pattern {pattern} refers back to a group"),
    tr_later("the pattern {pattern} uses a kind of group not allowed here"),
    tr_later("the pattern {pattern} has an unclosed class"),
    tr_later("the pattern {pattern} repeats a group possessively; write it without the last +"),
    tr_later(
        "the pattern {pattern} repeats a group that itself repeats or has alternatives, which can "
        "take for ever; write it without nesting"
    ),
    tr_later("grants must be plain JSON values"),
    tr_later("`tools` must be a list of grants, each with `tool` and `args`"),
    tr_later("a plan has at most {most} grants"),
    tr_later("a grant must be a mapping, like {example}"),
    tr_later("a grant must say which tool it is for: `tool`"),
    tr_later("`args` must be a mapping of argument to value, pattern or slot"),
    tr_later("an argument has letters, digits and _ $ @ - only, at most 64"),
    tr_later("an argument has one of {marks}, not several"),
    tr_later("an argument with open parts has at most {most} parts"),
    tr_later("a tool is named exactly: letters, digits and _ . : / @ -, at most 128 characters"),
    tr_later("`{key}` must be a whole number from 1 to {most}"),
    tr_later("unknown key {key}; {known}"),
    tr_later("`pattern` must be a regular expression, as text"),
    tr_later("a slot says where its value may come from: `from: owner`, plan, tool NAME or any"),
    tr_later("a slot of type `{kind}` has no `{key}`"),
    tr_later("unknown type of a slot; {known}"),
    tr_later("`from` names at least one source, each once, or `any` alone"),
    tr_later("a source is owner, plan, tool NAME or any"),
    tr_later("an item of a list cannot be absent"),
    tr_later("an expectation sets exactly one of {known}"),
    tr_later("it cannot be read: {words}"),
    tr_later("it has no `runbook:` block with `phrases`"),
    tr_later("its own default or example is refused: {words}"),
    tr_later("`installs` must name a parameter that takes several values"),
    tr_later("`{key}` cannot be a requirement's name, or is not used"),
    tr_later("`{key}` cannot be a parameter's name"),
    tr_later("the parameter `{key}` is not used"),
    tr_later("`{key}` must come after the parameter that it is a form of"),
    tr_later("the pattern of `{key}`: {wrong}"),
    tr_later("a parameter with several values stands only for whole items of a list"),
    tr_later("`runbook.sentences`: `{key}` is no parameter"),
    tr_later("the phrase {phrase} is none of its sentences"),
    tr_later("`{key}` must be {expected}"),
    tr_later("`{key}`: {wrong}"),
)
"""What follows a place, a part of a sentence; the widest come last."""
