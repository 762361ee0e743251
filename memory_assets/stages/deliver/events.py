"""The names and fields of the events that harnesses and programs can send.

Each event is about one subject (a session, a day, a proposal), named in a required field. All other
fields are optional. No field has text of a session, because the transcript has it. This module
imports nothing, because a harness waits for it.
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
"""The fields of each event. Further fields of a sender (file names, messages) are dropped."""

SUBJECTS = ("sessionId", "date", "proposalId")


def subject_of(name: str) -> str | None:
    """Returns the field that holds the subject of the event; None if the event has no subject."""
    return next((field for field in SUBJECTS if field in FIELDS[name]), None)
