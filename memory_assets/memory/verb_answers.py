"""The types of the results of the verbs of `MemoryAgent`, and of their parts, for views."""

from memory_assets.runs.agent_answers import Distilled
from memory_assets.services.forget.forget import Forgetting
from memory_assets.services.health.doctor import Health
from memory_assets.services.health.status import Status
from memory_assets.services.health.sums import HarnessCounts
from memory_assets.services.notes.feedback import Rating
from memory_assets.services.notes.remember import Noted
from memory_assets.services.notes.restore import Restored
from memory_assets.services.review.proposals import Decided, Pending, Review
from memory_assets.services.search.latest_briefing import Briefing
from memory_assets.services.search.opened import Opened, OpenedExchange
from memory_assets.services.search.why_not import WhyNot
from memory_assets.stages.brief.due import Trigger, Triggers
from memory_assets.stages.maintain.checks import Check
from memory_assets.stages.maintain.health_report import HealthReport
from memory_assets.stages.recall.cited_answer import Citation, CitedAnswer
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.stages.triage.contradictions import AdrContradiction
from memory_assets.stages.triage.explain import Explanation, ProvenanceStep
