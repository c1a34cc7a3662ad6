"""An event and its data as one plain sentence, for people (spec 0.5.1, Activity)."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from string import Formatter
from typing import Any

from silas.audit.fact_words import fact_words
from silas.audit.models import AuditEntry
from silas.audit.plain_values import PlainValues, plain
from silas.audit.variants import unsaid_words, variant
from silas.language import tr, tr_later
from silas.language.calendar import day_words

SENTENCES: Mapping[str, str] = {
    # stream
    "stream_started": "Silas started on {channel}.",
    "stream_stopped": "Silas stopped.",
    "checkpoint_missed": "No checkpoint was signed at the end ({code}).",
    "rehydrated": "Silas resumed {resumed}, recorded {finished} as done, asks again about"
    " {asked_again}; {unknown_calls} calls have no known outcome.",
    "work_item_had_ended": "{work_item_id} was not resumed: it had ended as {status}.",
    "checkpoint_failed": "The head of this record could not be signed ({code}).",
    "witness_failed": "The witness {witness} did not take the signed head ({code}).",
    "witness_recovered": "The witness {witness} has the signed head again.",
    "head_not_kept": "The newest signed head could not be kept outside the database ({code}).",
    "record.kept": "From here on the newest signed head is kept outside the database, too.",
    "record.changed": "This record was changed outside Silas, and effects are refused: {reason}",
    "record.accepted": "You accepted this record as it was at entry {seq}, in place of the one"
    " with {was_seq}.",
    "send_failed": "A message to {connection_id} could not be sent.",
    "message_replayed": "A message from {connection_id} was not taken for yours: {reason}.",
    "message_signature_bad": "A message from {connection_id} had a bad signature.",
    "onboarded": "You chose who answers: {provider}.",
    "settings_saved": "You changed {names}.",
    "settings_saving": "You want to change {names}.",
    "settings_declined": "{names}: left as before, because there was no yes.",
    "settings_not_saved": "{names}: not changed. {why}",
    "models_chosen": "You changed who answers, to {provider}.",
    "models_choosing": "You want another one to answer: {provider}.",
    "models_not_chosen": "Who answers was not changed to {provider}: {why}",
    # goals
    "goal.approved": "The clock runs {work_item_id} from here on.",
    "goal.stands": "The goal {work_item_id} is approved and waits for its first cycle.",
    "goal.cycle": "A cycle of {work_item_id} ended: {outcome}.",
    "job.failed": "Attempt {attempt} at {kind} {ref} failed with {error} ({code}).",
    "goal.paused": "The goal {work_item_id} was paused.",
    "goal.resumed": "You let {work_item_id} go on.",
    "goal.run_now": "You asked for a cycle of {work_item_id} at once.",
    # reminders
    "reminder.made": "The reminder {reminder_id} was made, for {due}.",
    "reminder.moved": "The reminder {reminder_id} was moved, to {due}.",
    "reminder.cancelled": "The reminder {reminder_id} was cancelled.",
    "reminder.forgotten": "The reminder {reminder_id} was forgotten with the words that it was"
    " made from.",
    "reminder.told": "You were told the reminder {reminder_id}, which was due on {due}.",
    # projects
    "project.begun": "The project {work_item_id} goes on; done already: {done}.",
    "project.files_left": "{work_item_id} may run what tasks before it left of {paths}.",
    # emergency stop
    "emergency.stopped": "The emergency stop: what ran was killed, every approval is void.",
    "emergency.resumed": "You ended the emergency stop; interrupted: {interrupted}.",
    "work_item_stopped": "{work_item_id} was under way when Silas was stopped; it is paused.",
    # the cockpit's door
    "device.paired": "The device {device} was paired.",
    "device.renamed": "The device {was} is called {device} from here on.",
    "device.revoked": "The device {device} is not paired any more.",
    "phone.opened": "The cockpit was opened for phones at {origin} ({way}; {fingerprint}).",
    "phone.closed": "The cockpit was closed for phones ({origin}).",
    "pairing.offered": "A pairing link was made.",
    "pairing.refused": "A try to pair was refused: {reason}.",
    "channel.answered": "A question was answered on the channel {channel}: {answer}.",
    "channel.failed": "The channel {channel} {why}.",
    "channel.refused": "{who} was not heard or did not count: {reason}.",
    "proof.refused": "A signature of {who} did not count: {reason}.",
    "web.limited": "The cockpit let {who} wait: too many {reason}.",
    "limit.exceeded": "{who} was refused, because it came too often: {reason}.",
    "web.refused": "The cockpit refused {who}: {reason}.",
    # turns
    "turn_routed": "Silas understood a request as {register}: {route}.",
    "turn_planned": "The planner answered a request.",
    "turn_finished": "A turn ended: {outcome}.",
    "attachment.added": "{name} ({size}) was attached to {conversation} on {device}.",
    "attachment.removed": "You removed {name} from {conversation}.",
    "conversation.archived": "You put the conversation {conversation} away.",
    "conversation.deleted": "You deleted the conversation {conversation} for good: {messages},"
    " {files}, {memories} of what was said.",
    "conversation.restored": "You brought the conversation {conversation} back.",
    "answer_stopped": "You ended an answer before it was given.",
    "model_stood_in": "{words}",
    "turn_degraded": "The model did not answer ({code}); nothing was run.",
    "turn_failed": "A turn failed with {code}.",
    "turns_cancelled": "{count} turns were cancelled because Silas stopped.",
    "turn_rejected_busy": "A message was refused because {scope_id} was busy.",
    "memory_op_blocked": "The memory operation {op} was blocked.",
    "memory_ops_truncated": "Of {asked} memory operations {kept} were kept.",
    "memory_op_refused": "The memory operation {op} was refused with {code}.",
    "memory_query_failed": "A question to memory could not be asked ({code}).",
    "turn_interrupted": "Silas ended before it answered a message of {scope_id}.",
    "chronicle_not_pruned": "Old conversations could not be pruned ({code}).",
    "continuation_dropped": "An answer wanted to go on from other work, and may not: {reason}.",
    "handed_over": "{connection_id} was handed to a person, because of the rule {gate}.",
    "queue_transferred": "{connection_id} waits for a person in the queue {queue} ({gate}).",
    "queue_seen_to": "Somebody saw to {connection_id}, which waits for a person no more.",
    "task_drafted": "A draft waits for you: {work_item_id}, because of the rule {gate}.",
    # the context
    "context_over_budget": "The context of {scope_id} is too full: {used} of {limit} tokens, and"
    " {held} of them may not leave.",
    "context_scorer_missing": "Room was made without a model's advice: {reason}",
    "context_subscription_ended": "A {sub_type} was no longer followed for {scope_id}: {reason}.",
    # the persona
    "persona_failed": "Silas spoke neutrally to {scope_id}: its personality failed ({kind}).",
    "persona_preset": "Silas speaks as the preset {preset} says.",
    # what Silas proposes by itself
    "suggestion_answered": "A suggestion was {outcome} ({suggestion_id}).",
    "preference_inferred": "Silas noticed a habit of yours: {pattern}.",
    "preference_decided": "You were asked whether {pattern} is a rule: {rule}.",
    "autonomy_tightened": "Silas asks more often again: {changed}.",
    "autonomy_decided": "You answered {proposal_id} with {decision}; changed: {changed}.",
    "autonomy_refused": "{proposal_id} changed nothing: {reason}",
    "review_failed": "What waits for you could not be shown or kept ({kind}).",
    # plans
    "plan_proposed": "The plan {work_item_id} was proposed.",
    "plan_approved": "You approved the plan {work_item_id}.",
    "plan_waits": "The plan {work_item_id} waits for you; you are asked elsewhere.",
    "plan_not_approved": "You did not approve the plan {work_item_id}: {verdict}.",
    "plan_answered_elsewhere": "{work_item_id} was answered elsewhere, so its question here was"
    " closed.",
    "plan_refused": "The plan {work_item_id} was refused: {reason}",
    "plan_unreadable": "A plan could not be read: {reason}",
    "plan_faulty": "A plan goes back to the planner: {reasons}",
    "plan_tried": "The checks of {work_item_id} were tried before its card: {checks}.",
    "plan_action_refused": "An answer wanted to {action} a plan and brought none.",
    "needs_approval_overridden": "{work_item_id} asked to run unapproved, and may not.",
    # approval
    "approval.issued": "Your answer to {work_item_id} was signed: {verdict}.",
    "approval.used": "The approval of {work_item_id} was used ({use} of {max_executions}).",
    "approval.revoked": "The approval of {work_item_id} was taken back.",
    "approval.narrowed": (
        "The approval of {work_item_id} was narrowed to {max_executions} uses until {expires_at}."
    ),
    "approval.refused": "An approval for {work_item_id} was refused with {code}.",
    "clock.jumped": "The machine's clock jumped from {before} to {at}; open approvals are void.",
    "clock.confirmed": "You said that the machine's clock is right: {at}.",
    "row_set_aside": "{key} in {place} of the database cannot be read and is set aside.",
    # the owner's key
    "key.rotation_began": "You asked for a new key.",
    "key.rotated": "Your key was replaced; unused approvals lapsed.",
    # work
    "execution_blocked_no_approval": "{work_item_id} did not run, not approved: {reason}",
    "execution_failed": "The execution of {work_item_id} failed with {code}.",
    "work_item_attempt": "Attempt {attempt} at {work_item_id} began.",
    "work_item_cancelled": "{work_item_id} was cancelled.",
    "work_item_finished": "{work_item_id} ended: {status}.",
    "work_item_not_begun": "{work_item_id} was never begun.",
    "worker_started": "The worker {worker} began to work on {work_item_id}.",
    "work_item_refused": "{work_item_id} was refused: {reason}",
    "artifact_ref_mismatch": "{work_item_id} named artifacts that no tool made: {names}.",
    "verification_finished": "The checks of {work_item_id} were run.",
    "owner_asked": "{work_item_id} asked you to choose; you took answer {chosen}.",
    "workspace_look_asked": "You were asked whether a model may look at your files: {answer}.",
    "workspace_look_taken_back": "You took back whether models may be shown a directory: {answer}.",
    "plan_revised": "The plan {work_item_id} was proposed in place of {replaces}; it waits for"
    " you.",
    "plan_revision_failed": "No other plan could be had for {work_item_id} ({code}).",
    "planner_advice_failed": "The planner could not be asked about {work_item_id} ({code}).",
    "progress_untold": "Nobody could be told how {work_item_id} is going.",
    "tool_call.settled": "You said whether the call of {tool} for {work_item_id} took effect.",
    "effects_unsettled": "{work_item_id} waits for you: {reason}",
    "changes_held": "The changes of {work_item_id} to {paths} wait for your yes.",
    "changes_answered": "You were asked about the changes of {work_item_id}.",
    "changes_dropped": "The changes of {work_item_id} were dropped; nothing was applied.",
    "workspace_applied": "The changes of {work_item_id} were applied to {paths}.",
    "workspace_applied_before": "The changes of {work_item_id} to {paths} stood already.",
    "workspace_applying": "The changes of {work_item_id} are about to be applied to {paths}.",
    "workspace_not_recovered": "The workspace of {work_item_id} could not be put back: {reason}",
    "workspace_recovered": "The workspace of {work_item_id} was put back after an interruption.",
    "batch_reviewed": "You answered a batch of {items} files in {folder}: {verdict}.",
    "batch_moving": "{items} files in {folder} are about to be moved.",
    "batch_moved": "{items} files in {folder} were moved: {paths}.",
    "batch_undoing": "{items} files in {folder} are about to go back: {paths}.",
    "batch_undone": "{items} files in {folder} are back where they were: {paths}.",
    "batch_recovered": "A batch in {folder} was interrupted; {items} of its files were moved:"
    " {paths}.",
    "workspace_undoing": "The changes of {work_item_id} to {paths} are about to be undone.",
    "workspace_not_undone": "The changes of {work_item_id} to {paths} stand: {reason}.",
    "workspace_undone": "The changes of {work_item_id} to {paths} were undone.",
    # the network, through the sandbox's proxy
    "network_opened": "{work_item_id} ({purpose}) connected to {host}:{port} for the first time.",
    "network_refused": "{work_item_id} ({purpose}) was refused {what}: {reason}, times {times}.",
    "network_used": "{work_item_id} ({purpose}) sent {host} {bytes_out} and got {bytes_in}.",
    # servers of tools
    "mcp.connected": "The MCP server {server} is there; {tools} of its tools are trusted.",
    "mcp.disconnected": "The MCP server {server} is not there: {why}",
    "mcp.drifted": "The MCP server {server} is not as it was trusted: changed {changed}, new {new},"
    " gone {gone}.",
    "mcp.adding": "You want the MCP server {server} added: {runs}; it reaches {reaches}, reads"
    " {reads}, writes {writes}.",
    "mcp.removing": "You want the MCP server {server} removed.",
    "mcp.not_written": "The configuration stays as it was about the MCP server {server}: {why}",
    "mcp.added": "You added the MCP server {server}: {runs}; it reaches {reaches}, reads {reads},"
    " writes {writes}.",
    "mcp.changing": "You want the MCP server {server} changed: {runs}; it reaches {reaches},"
    " reads {reads}, writes {writes}.",
    "mcp.changed": "You changed the MCP server {server}: {runs}; it reaches {reaches}, reads"
    " {reads}, writes {writes}.",
    "mcp.secret_given": "The MCP server {server} is given the secret {ref_id}.",
    "mcp.removed": "You removed the MCP server {server}.",
    "mcp.trusted": "You trust the MCP server {server} with the tools {tools}.",
    "mcp.distrusted": "You trust the MCP server {server} no more.",
    "mcp.not_trusted": "You did not trust the MCP server {server}.",
    # skills
    "skill.imported": "The skill {skill} was imported from {source} and set aside.",
    "skill.installed": "You installed the skill {skill}.",
    "skill.refused": "You did not install the skill {skill}.",
    "skill.removed": "The skill {skill} was removed.",
    "skill.importing": "The skill {skill} is to be imported from {source}.",
    "skill.installing": "You want the skill {skill} installed.",
    "skill.removing": "The skill {skill} is to be removed.",
    "skill.not_imported": "The import of the skill {skill} did not come to its end: {why}",
    "skill.not_installed": "Installing the skill {skill} did not come to its end: {why}",
    "skill.not_removed": "Removing the skill {skill} did not come to its end: {why}",
    # secrets, by reference
    "secret.adding": "The secret {ref_id} is to be added.",
    "secret.not_changed": "A change of the secret {ref_id} did not come to its end: {why}",
    "secret.removing": "The secret {ref_id} is to be removed.",
    "secret.added": "The secret {ref_id} was added.",
    "secret.removed": "The secret {ref_id} was removed.",
    "secret_stored": "The secret {ref_id} was stored on a path of its own.",
    "secret.used": "{work_item_id} was given the secret {ref_id} for one run.",
    # memory
    "memory.exported": "{count} went out as a bundle, signed with your key.",
    "memory.import_began": "The bundle {name} with {count} is being imported ({mode}).",
    "memory.imported": "The bundle {name} was imported ({whose}): {stored} memories new,"
    " {updated} changed, {kept} kept as they were, {deleted} deleted.",
    "memory.added": "You added the memory {memory_id} in your own words.",
    "memory.corrected": "You put your own words in the place of the memory {memory_id}.",
    "memory.changed": "The memory {memory_id} was changed by what was said.",
    "memory.forgetting": "What came from {source} is to be forgotten.",
    "memory.not_forgotten": "Forgetting {source} did not come to its end: {why}",
    "memory.forgotten": "Forgotten: {count}, {source}.",
    "memory.promoted": "You confirmed the memory {memory_id}.",
    "memory.consolidated": "Memories were tidied: {merged} merged, {promoted} confirmed by you,"
    " {pruned} forgotten, {reembedded} made findable by meaning again.",
    "memory.consolidation_failed": "Memories could not be tidied ({code}).",
    # gates
    "access_level_changed": "Access of {connection_id} went from {before} to {after}.",
    "escalation_fallback": "Nobody answered an escalation; its fallback {name} was taken.",
    "card_timed_out": "A question got no answer in its time and was answered safely: {intent}",
    "card_answered": "You answered a question: {answer}.",
    "fatigue_cue": "A cue was shown, and nothing was held up: {words}",
    "card_unanswered": "A question could not be asked and was answered safely: {intent}",
    "escalation_reported": "You were told of the gate {gate}.",
    "escalation_unknown": "The gate {gate} names an unknown escalation: {name}.",
    "gate_additional_block": "The gate {gate} would have blocked, too.",
    "gate_answered": "You answered the gate {gate} with {answer}.",
    "gate_blocked": "The gate {gate} blocked: {reason}",
    "gate_mutation": "The gate {gate} rewrote {key}.",
    "gate_unavailable": "The gate {gate} could not be evaluated: {reason}",
    "quality_gate_after_step": "The quality gate {gate} rated a step.",
    "quality_gate_input": "The quality gate {gate} rated a message.",
    "quality_gate_output": "The quality gate {gate} rated an answer.",
    "quality_gate_tool_call": "The quality gate {gate} rated a tool call.",
    "quality_lane_violation": "The quality gate {gate} tried to decide; it was ignored.",
    "rejected_mutation": "The gate {gate} tried to rewrite {key}, which no gate may.",
    # the tool door
    "gate.allowed": "Silas may use {tool}.",
    "gate.antiflap_block": "Silas did not use {tool}: the same was done a moment ago.",
    "gate.approved": "Using {tool} is covered by an approval of yours.",
    "gate.denied": "Silas was not allowed to use {tool}.",
    "gate.hard_blocked": "Silas did not use {tool}: too risky, approved or not.",
    "gate.preview": "What {tool} would do was shown, and not done.",
    "gate.required": "Silas needs your yes to use {tool}.",
    "gate.stopped": "Silas did not use {tool}: it is stopped.",
    "gate.storm_block": "Silas did not use {tool}: too many notifications.",
    "scope.violation": "Silas did not use {tool}: it would need {missing}.",
    "toolset.absent": "The tools of {toolset} could not be had: {why}",
    "tool_call.attempted": "Silas began to use {tool}.",
    "tool_call.deduped": "{tool} was not run again; its recorded outcome was taken.",
    "tool_call.failed": "Silas used {tool}, which failed.",
    "tool_call.succeeded": "Silas used {tool}.",
    "tool_call.unknown": "Nobody knows whether {tool} took effect.",
}  # fmt: skip


def narrate(event: str, data: Mapping[str, Any]) -> str:
    """Say what an entry records.

    Args:
        event: The event's name.
        data: Its facts. They may come from outside: control and invisible characters are removed.

    Returns:
        One sentence on one line. An event without a sentence of its own is named with its facts.
    """
    values = PlainValues({plain(name): plain(value) for name, value in data.items()})
    sentence = variant(event, data) or SENTENCES.get(event)
    if sentence is not None:
        told = fact_words(event, data)
        values.setdefault("folder", values["batch_id"])  # of a batch; older entries name none
        values.update({name: plain(words) for name, words in told.items()})
        more = unsaid_words(data)
        return f"{tr(sentence)}{tr(more) if more else ''}".format_map(values)
    name = plain(event).replace("_", " ").replace(".", ": ")
    facts = ", ".join(f"{fact} {value}" for fact, value in values.items())
    return f"{name[:1].upper()}{name[1:]}{f' ({facts})' if facts else ''}."


def entry_details(event: str, data: Mapping[str, Any]) -> str:
    """What an entry knows beyond its sentence: tool, step, arguments' digest and cause.

    Returns:
        Words in parentheses on one line, or nothing. Of a digest the first 12 of 64 digits.
    """
    told = {name for _, name, _, _ in Formatter().parse(SENTENCES.get(event, "")) if name}
    values = PlainValues({name: plain(value) for name, value in data.items()})
    if event not in SENTENCES:
        return ""  # such an entry is told with all its facts
    found = [
        tr(words).format_map(values)
        for name, words in BEHIND.items()
        if name not in told and data.get(name)
    ]
    return f" ({'; '.join(found)})" if found else ""


BEHIND: Mapping[str, str] = {
    "tool": "tool {tool}",
    "task": "for {task}",
    "digest": "arguments sha256:{digest:.12}",
    "why": "because: {why}",
    "given": "given from secrets: {given}",
    "device_id": "id {device_id}",
    "code": "{code}",
    "source": "by: {source}",
}
"""Facts that many events have and few sentences tell, in the order in which they are said."""


def timeline(entries: Iterable[AuditEntry], zone: tzinfo, width: int) -> Iterator[str]:
    """Entries as lines: a heading for every day, then number, time of day and sentence.

    Args:
        entries: In their order. One that was damaged is said to be, and hides no other.
        zone: Whose days and hours.
        width: Columns; longer sentences go on below themselves.
    """
    day = ""
    for entry in entries:
        try:
            said = json.loads(entry.body)
            at = datetime.fromisoformat(said["at"]).astimezone(zone)
            event, data = str(said["event"]), dict(said["data"])
            sentence = narrate(event, data) + entry_details(event, data)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            yield f"{entry.seq:>6}  --:--:--  {tr(_DAMAGED)}"
            continue
        if day != (day := f"{day_words(at)}, {at:%Z}"):
            yield day
        before = f"{entry.seq:>6}  {at:%H:%M:%S}  "
        lines = textwrap.wrap(sentence, width - len(before), break_on_hyphens=False)
        yield before + ("\n" + " " * len(before)).join(lines)


def documents(entries: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    """Entries as data for a program, each with its sentence; a damaged one has its number alone."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        try:
            said = json.loads(entry.body)
            at, event, data = str(said["at"]), str(said["event"]), dict(said["data"])
            words = narrate(event, data) + entry_details(event, data)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            found.append({"seq": entry.seq, "damaged": True, "words": _DAMAGED})
            continue
        found.append({"seq": entry.seq, "at": at, "event": event, "data": data, "words": words})
    return found


_DAMAGED = tr_later("This entry is damaged; run `silas audit verify`.")


def known_events() -> frozenset[str]:
    """The events with a sentence of their own, for the test that finds the others."""
    return frozenset(SENTENCES)
