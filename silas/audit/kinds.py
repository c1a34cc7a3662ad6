"""What an event is about, so that a person can look at one kind of them (spec 0.5.1, Activity)."""

from collections.abc import Mapping
from typing import Literal

Kind = Literal["asked", "approved", "ran", "checked", "changed", "refused", "system"]

KINDS: Mapping[Kind, frozenset[str]] = {
    "asked": frozenset(
        {
            *("plan_proposed", "plan_waits", "owner_asked", "gate.required"),
            *("workspace_look_asked", "workspace_look_taken_back"),
            *("card_timed_out", "card_unanswered", "escalation_reported"),
            *("effects_unsettled", "escalation_fallback", "fatigue_cue", "changes_held"),
            *("handed_over", "queue_transferred", "task_drafted"),
        }
    ),
    "approved": frozenset(
        {
            *("plan_approved", "approval.issued", "approval.used", "gate.approved"),
            *(
                "mcp.trusted",
                "mcp.adding",
                "mcp.added",
                "mcp.changing",
                "mcp.changed",
                "tool_call.settled",
                "card_answered",
                "gate_answered",
            ),
            *("changes_answered", "record.accepted", "batch_reviewed"),
            *(
                "memory.promoted",
                "skill.installing",
                "skill.installed",
                "queue_seen_to",
                "channel.answered",
            ),
        }
    ),
    "ran": frozenset(
        {
            *("tool_call.attempted", "tool_call.succeeded", "tool_call.failed"),
            *("tool_call.deduped", "tool_call.unknown", "gate.allowed", "gate.preview"),
            *(
                "work_item_attempt",
                "work_item_finished",
                "work_item_not_begun",
                "work_item_cancelled",
            ),
            *("work_item_stopped", "worker_started", "network_opened", "network_used"),
            *("secret.used", "mcp.secret_given", "work_item_had_ended", "execution_failed"),
            "reminder.told",
        }
    ),
    "checked": frozenset({"verification_finished", "artifact_ref_mismatch"}),
    "changed": frozenset(
        {
            *("workspace_applied", "workspace_applied_before", "workspace_applying"),
            *("workspace_recovered", "workspace_undone", "workspace_not_recovered"),
            "workspace_not_undone",
            *("workspace_undoing", "batch_undoing"),
            *("batch_moving", "batch_moved", "batch_undone", "batch_recovered"),
            *("secret.added", "secret.removed", "secret_stored", "key.rotated"),
            *("key.rotation_began", "access_level_changed", "onboarded"),
            *("secret.adding", "secret.removing"),
            "models_chosen",
            *("settings_saved", "settings_saving", "models_choosing"),
            *(
                "approval.narrowed",
                "approval.revoked",
                "clock.confirmed",
                "clock.jumped",
                "attachment.added",
                "attachment.removed",
                "conversation.archived",
                "conversation.deleted",
                "conversation.restored",
                "device.paired",
                "device.renamed",
                "device.revoked",
                "gate_mutation",
                "persona_preset",
                "phone.closed",
                "phone.opened",
            ),
            *("memory.exported", "memory.import_began", "memory.imported"),
            *("memory.forgetting", "memory.changed"),
            *("memory.forgotten", "memory.consolidated", "memory.added", "memory.corrected"),
            *("autonomy_decided", "autonomy_tightened", "preference_decided"),
            *("skill.imported", "skill.removed", "skill.importing", "skill.removing"),
            *("reminder.made", "reminder.moved", "reminder.cancelled", "reminder.forgotten"),
        }
    ),
    "refused": frozenset(
        {
            *(
                "plan_not_approved",
                "plan_refused",
                "plan_unreadable",
                "plan_faulty",
                "plan_action_refused",
            ),
            *("approval.refused", "needs_approval_overridden", "execution_blocked_no_approval"),
            *(
                "work_item_refused",
                "network_refused",
                "mcp.not_trusted",
                "mcp.distrusted",
                "mcp.removing",
                "mcp.removed",
                "mcp.not_written",
                "models_not_chosen",
                "settings_not_saved",
                "settings_declined",
                "memory_op_blocked",
            ),
            *("gate_blocked", "gate_additional_block", "gate_unavailable", "rejected_mutation"),
            *("gate.denied", "gate.hard_blocked", "gate.antiflap_block", "gate.storm_block"),
            *("gate.stopped", "scope.violation", "message_replayed", "message_signature_bad"),
            *("turn_rejected_busy", "quality_lane_violation", "pairing.refused"),
            *("proof.refused", "web.refused", "web.limited", "channel.refused"),
            *("limit.exceeded", "memory_ops_truncated"),
            *("memory_op_refused", "continuation_dropped", "skill.refused", "changes_dropped"),
            *("secret.not_changed", "memory.not_forgotten"),
            *("skill.not_imported", "skill.not_installed", "skill.not_removed"),
        }
    ),
}
"""Whatever is in none of them is `system`."""

QUIET: frozenset[str] = frozenset(
    {
        *("turn_routed", "turn_planned", "turn_finished", "tool_call.attempted", "gate.allowed"),
        *("approval.issued", "approval.used", "gate.approved", "workspace_applying"),
        *("workspace_undoing", "batch_undoing"),
        *("network_used", "worker_started", "work_item_attempt", "card_answered"),
        *("memory.import_began", "memory.forgetting"),
        *("secret.adding", "secret.removing"),
        *("mcp.adding", "mcp.changing", "mcp.removing"),
        *("settings_saving", "models_choosing"),
        *("skill.importing", "skill.installing", "skill.removing"),
        *("quality_gate_after_step", "quality_gate_input", "quality_gate_output"),
        *("quality_gate_tool_call", "tool_call.deduped", "witness_recovered"),
    }
)
"""Steps in between: what they lead to has an entry of its own, and a person reads that."""

_OF: Mapping[str, Kind] = {event: kind for kind, events in KINDS.items() for event in events}


def kind_of(event: str) -> Kind:
    """What an event is about; `system` where nothing else is known."""
    return _OF.get(event, "system")
