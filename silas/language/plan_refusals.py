"""Why a plan is not even asked about, as `refusal_words` tells it (spec 5.2.2, 5.2.3, 8.2)."""

from typing import Final

from silas.language.catalogue import tr_later

PLAN_REFUSALS: Final = (
    tr_later("The task {task} could not run. {why}"),
    tr_later(
        "This version deploys nothing in a conversation, and {name} has `agent: stream` or "
        "`access_levels`; give a goal that checks something `agent: ephemeral`."
    ),
    tr_later("{name} is a goal that never runs; give it a `schedule`."),
    tr_later(
        "One yes to a goal counts {most} uses at most (`{cap}`), and the plan asks for {uses}; "
        "write `uses: {number}` or fewer under `standing`."
    ),
    tr_later(
        "The end of the yes that the plan asks for, {wall} ({zone}), is past; write a later "
        "`until` under `standing`."
    ),
    tr_later(
        "The plan asks for a yes that lasts longer than {days} days (`{cap}`); write an `until` "
        "of {wall} ({zone}) or before under `standing`."
    ),
    tr_later("{name} is a goal that checks nothing; give it a check under `verify`."),
    tr_later(
        "What follows a failing check of {name} is {answer}, which no goal can do; use "
        "`on_failure: spawn_task` or `report`."
    ),
    tr_later(
        "{name} starts work that is not written down; say under `failure_context` what is to be "
        "done."
    ),
    tr_later("{name} has `cycle: {cycle}` and no briefing; say below the keys what is to be done."),
    tr_later(
        "{name} would do its work without a pause; give it a cron expression or a moment as its "
        "`schedule`."
    ),
    tr_later("{name} has `cycle: tidy` and no folder; name it under `workspace`."),
    tr_later(
        "{name} would ask without a pause; give it a cron expression or a moment as its `schedule`."
    ),
    tr_later(
        "{name} has `cycle: tidy`, which asks about files and starts no work; take `{key}` out of "
        "it."
    ),
    tr_later(
        "{name} has `cycle: tidy`, which asks about files and starts no work; take its briefing "
        "out of it."
    ),
    tr_later(
        "{name} does its work each time, so nothing follows a failing check; take "
        "`failure_context` and `on_failure: spawn_task` out of it."
    ),
    tr_later(
        "{name} has `cycle: when` and no condition; write under `verify` what has to hold so that "
        "its work is done."
    ),
    tr_later(
        "The check {name} asks with {command} for {of_machine} of this machine, and checks run in "
        "a sandbox that shows none; let it look at a file that is kept up to date, or at an "
        "address."
    ),
    tr_later(
        "The check {name} looks at {file}, and the sandbox that checks run in has processes and "
        "connections of its own only; let it look at a file that is kept up to date, or at an "
        "address."
    ),
    tr_later(
        "The check {name} looks at {file}, and the sandbox that checks run in shows nothing that "
        "runs on this machine; let it look at a file of the plan's workspace that is kept up to "
        "date, or at an address."
    ),
    tr_later(
        "The check {name} asks {host}, and in the sandbox that checks run in this is the sandbox "
        "itself; start the server in the same command with `&`, or ask by a host name that the "
        "check has under `network`."
    ),
    tr_later(
        "The check {name} asks {host}, and it has no network; give it the host under `network`, or "
        "let it look at a file."
    ),
    tr_later(
        "The check {name} looks at {file}, and the sandbox that checks run in shows the plan's "
        "workspace and what it has under `read` only; let it look at a file of the workspace, or "
        "put the folder under `read` by its whole path."
    ),
    tr_later("{name} is a project without tasks; name them under `tasks`."),
    tr_later(
        "{name} has {count} tasks, and a project has at most {most}; make it several projects."
    ),
    tr_later(
        "{name} is a project, which does no work of its own; give `gates`, `escalation`, "
        "`tools`, `worker` and `credential_refs` to the tasks that need them."
    ),
    tr_later(
        "The task {task} of {name} is missing; put its plan behind the project's, below a line "
        "`=== task: {line} ===`, or, where you run it from a file, into {file}.md beside that "
        "file."
    ),
    tr_later("{name} does not name {task}; add it to `tasks`, or leave it out."),
    tr_later("The task {task} is given twice; leave one of them."),
    tr_later("{task} is a {kind}, and a project has tasks only; run it as a plan of its own."),
    tr_later("{task} belongs to {other} and not to {name}."),
    tr_later(
        "{task} waits for {other}, which is no task of {name}; name it under `tasks`, or take it "
        "out of `depends_on`."
    ),
    tr_later(
        "The tasks of {name} wait for each other in a circle: {ring}; take one `depends_on` out."
    ),
    tr_later("Only a goal runs by the clock; take `schedule` out of {name}."),
    tr_later(
        "What {name} does when it is stuck is {answer}, which nothing can do; use "
        "`on_stuck: consult_planner` or `report`."
    ),
    tr_later(
        "What follows a failure of {name} is {answer}, which only a goal can do; take "
        "`on_failure` out of it."
    ),
    tr_later(
        "Only a goal starts work after a failing check; take `failure_context` out of {name}."
    ),
    tr_later("A goal waits for no other work; take `{key}` out of {name}."),
    tr_later(
        "{name} asks for artifacts of no work; name the work under `follow_up_of`, or take "
        "`input_artifacts_from` out of it."
    ),
    tr_later(
        "This version has no provider {provider} for the gate {gate}; give it "
        "`provider: predicate`, or take it out of the plan."
    ),
    tr_later(
        "The gate {gate} is for {moment}, to which a task never comes; give it `on: after_step`, "
        "`on_tool_call` or `every_agent_response`, or take it out of the plan."
    ),
    tr_later("The plan names what cannot be reached by name: {why}"),
    tr_later("The plan needs skills that are not installed: {names}."),
    tr_later("The plan asks for a secret that it cannot have: {why}."),
    tr_later(
        "The plan's workspace {path} is, holds or lies in what belongs to Silas; "
        "name another directory."
    ),
    tr_later(
        "The plan cannot read {path}: it is or holds your whole home, secrets, or what belongs to "
        "Silas or the system; name less, or take it out of `read:`."
    ),
    tr_later("It waits for {names}, which is not done."),
    tr_later("It follows up {name}, which is not completed work."),
    tr_later("{name} has no artifact {names}."),
    tr_later("another plan with the id {name} exists already, so give this one another id."),
    tr_later("The plan cannot be approved: {why}"),
    tr_later(
        "the task {task} was approved elsewhere, as work of its own, and that does not count for "
        "{name}; give it another id."
    ),
    tr_later("{place} does not exist: {remedy}."),
    tr_later("{place} is reached through a symbolic link: name what the link leads to."),
    tr_later("{place} cannot be opened: {why}."),
    tr_later("{place} is no directory: name the one it lies in."),
    tr_later("{path}, which the plan reads,"),
    tr_later("The plan's workspace {path}"),  # last, since it begins others
)
"""In the order in which they are tried."""
