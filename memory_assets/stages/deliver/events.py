"""What can be sent to the memory from outside: the names of events, in the past tense, and what each may say.

Each event is about one thing (a session, a day, a proposal), named in one field that it must have; all other fields are
optional. No field holds what was said in a session: that is in its transcript. Imports nothing: a harness waits for this.
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
    ENDED: {**SESSION, "reason": str, "messageCount": int, "userMessageCount": int, "duration": float},
    TURN_COMPLETED: SESSION,
    ACCUMULATED: {"date": str, "totalTokens": int, "observationCount": int},
    REFLECTED: {"date": str, "inputTokens": int, "outputTokens": int, "compressionRatio": float, "proposalCount": int},
    APPROVED: {"proposalId": str},
    REJECTED: {"proposalId": str, "reason": str},
    FRICTION_REQUESTED: {},
}
"""The fields of each event. Others that a sender adds (names of files, the messages themselves) are left where they are."""

SUBJECTS = ("sessionId", "date", "proposalId")


def subject_of(name: str) -> str | None:
    """Returns the field that says what the event is about, where it is about one thing."""
    return next((field for field in SUBJECTS if field in FIELDS[name]), None)
