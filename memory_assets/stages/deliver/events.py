"""The events that harnesses and programs can send: their names, in the past tense, and their
fields.

Each event has one subject (a session, a day, a proposal) in a required field; all other fields are
optional. No field has text of a session: that is in its transcript. Imports nothing, because a
harness waits for it.
"""

COMPACTION_PENDING = "memory/session.compaction.pending"
ENDED = "memory/session.ended"
TURN_COMPLETED = "memory/session.turn.completed"
ACCUMULATED = "memory/observations.accumulated"
REFLECTED = "memory/observations.reflected"
APPROVED = "memory/proposal.approved"
REJECTED = "memory/proposal.rejected"
FRICTION_REQUESTED = "memory/friction.requested"

SCHEMA_VERSION = 1

SESSION = {"sessionId": str, "harness": str}

FIELDS: dict[str, dict[str, type]] = {
    COMPACTION_PENDING: {**SESSION, "trigger": str, "messageCount": int, "tokensBefore": int},
    ENDED: SESSION
    | {"reason": str, "messageCount": int, "userMessageCount": int, "duration": float},
    TURN_COMPLETED: SESSION,
    ACCUMULATED: {"date": str, "totalTokens": int, "observationCount": int},
    REFLECTED: {"date": str, "inputTokens": int, "outputTokens": int}
    | {"compressionRatio": float, "proposalCount": int},
    APPROVED: {"proposalId": str},
    REJECTED: {"proposalId": str, "reason": str},
    FRICTION_REQUESTED: {},
}
"""The fields of each event. Others that a sender adds (file names, messages) are dropped."""

SUBJECTS = ("sessionId", "date", "proposalId")


def subject_of(name: str) -> str | None:
    """Returns the field that holds the subject of the event, where it has one."""
    return next((field for field in SUBJECTS if field in FIELDS[name]), None)
