"""Renders answers about memories: recalled, cited, saved, rated, restored, erased, proposed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memory_assets.interfaces.views.lines import Parts, bold, dim, ranges, warning
from memory_assets.schema.requests import LOOKUP
from memory_assets.schema.vocabulary import HARNESS_TITLES, MEMORY_KINDS
from memory_assets.text.short_ids import short_id, short_message_id
from memory_assets.text.words import count_tokens, counted

if TYPE_CHECKING:
    from memory_assets.memory import verb_answers as types


MOST_WORDS = 240
"""Words of the results that are shown, unless there are more than five."""

WORDS_A_RESULT = MOST_WORDS // 5
MOST_TOKENS = 880
"""Tokens of the results with the candidates behind them; 20 are left for notes."""

WORDS_BESIDE = 16
"""Words of the other half of an exchange: about a line, and what the found message leaves."""


def render_recalled(answer: "types.Answer") -> Parts:
    """Renders the results, best first, or that nothing is known; a message has its speaker, and is
    cut to the sentences that match. Its notes say what could not be searched.
    """
    yield from _headline(answer)
    yield from _sessions(answer)
    results = list(_results(answer))
    yield from results
    if answer.candidates:
        yield from _candidates(answer, MOST_TOKENS - _tokens(results))
    elif any(item.reason == "over the cap" for item in answer.left_out):
        option = "--more" if answer.page == 1 else f"--page {answer.page + 1}"
        yield dim(f"`{option}` shows the next ones.")
    if answer.results and answer.tier == 1:
        yield dim("answered from category summaries; --deep searches everything")


def _headline(answer: "types.Answer") -> Parts:
    """Renders that there are no results, or unlikely ones."""
    if answer.sessions or answer.results:
        if not answer.is_known:
            nearest = "sessions" if answer.sessions else "memories"
            yield warning(f"Not in memory. The nearest {nearest}:")
    else:
        yield from _nothing(answer)


def _sessions(answer: "types.Answer") -> Parts:
    """Renders the sessions, the most likely first: title, date, and what was said in them."""
    for number, match in enumerate(answer.sessions, start=1):
        yield bold(f"{number}. {match.title or 'Untitled'}")
        for item in match.matches:
            yield f"   {item.said_by}: {item.text} ({item.id})"
        on = f"{match.started_at:%Y-%m-%d}"
        about = (on, match.project, HARNESS_TITLES.get(match.harness))
        yield dim(f"   {', '.join(filter(None, about))}, session {match.session}")


def _nothing(answer: "types.Answer") -> Parts:
    """Says that nothing is known, or found where notes say what is missing, and in a line what is
    nearest to the question.
    """
    subject = f"of {answer.question}" if answer.profile == LOOKUP else "about this"
    verb = "found so far" if answer.notes else "known"
    yield f"Nothing is {verb} {subject}." if answer.page == 1 else "No more results."
    nearest = answer.nearest
    if nearest:
        from memory_assets.text.terms import query_terms

        words = _cut(nearest.text, query_terms(answer.question), WORDS_BESIDE)
        speaker = f"{nearest.said_by}: " if nearest.kind == "message" else ""
        yield dim(f"Nearest, but no answer: {speaker}{words} ({_facts(nearest)})")


def _results(answer: "types.Answer") -> Parts:
    """Renders each result in its share of the words."""
    from memory_assets.text.terms import query_terms

    terms = query_terms(answer.asked or answer.question)
    is_alone = 0 < len(answer.results) < 5 and not answer.candidates
    room = MOST_WORDS // len(answer.results) if is_alone else WORDS_A_RESULT
    days = Counter(result.event_at.date() for result in answer.results)
    for number, result in enumerate(answer.results, start=1):
        facts = _facts(result, has_time=days[result.event_at.date()] > 1)
        yield from _result(number, result, terms, room, facts)


def _candidates(answer: "types.Answer", tokens: int) -> Parts:
    """Renders the further candidates, a line each, that fit into the tokens."""
    likely = "Further candidates" if answer.is_known else "Unlikely candidates"
    lines = [f"{likely}, to open by id:"]
    for item in answer.candidates:
        lines.append(f"{item.id} {item.event_at:%m-%d} {item.said_by}: {item.text}")
        if _tokens(lines) > tokens:
            break
        yield from lines[-2:] if len(lines) == 2 else lines[-1:]


def _tokens(lines: Iterable[object]) -> int:
    return sum(count_tokens(f"{line}\n") for line in lines)


def _result(
    number: int, result: "types.Recalled", terms: Collection[str], room: int, facts: str
) -> Parts:
    from memory_assets.text.excerpts import further_terms

    half = result.other_half
    speaker = f"{result.said_by}: " if result.kind == "message" else ""
    introduction = f"{half.relation} {half.said_by}: " if half else ""
    rest = room - len(f"{number} {speaker} {introduction} {facts}".split())
    words = _cut(result.text, terms, rest - WORDS_BESIDE if half else rest)
    yield _marked(bold(f"{number}. ", speaker), words, terms)
    if half:
        wanted = further_terms(terms, result.text) if half.relation == "answered by" else terms
        beside = _cut(half.text, wanted, rest - len(words.split()))
        yield _marked(Text("   "), f"{introduction}{beside}", terms)
    yield dim(f"   {facts}")


def _cut(text: str, terms: Collection[str], most_words: int) -> str:
    from memory_assets.text.excerpts import cut_to_match, prose_of

    return cut_to_match(prose_of(text, terms), terms, most_words)


def _marked(line: Text, words: str, terms: Collection[str]) -> Text:
    """Returns the line with the words behind it, those that match in bold."""
    from memory_assets.text.excerpts import matching_words

    start = len(line)
    line.append(words)
    for first, last in matching_words(words, terms):
        line.stylize("bold", start + first, start + last)
    return line


def render_block(answer: "types.Answer") -> Parts:
    """Renders the lines for a prompt, if there are any."""
    block = answer.render()
    if block:
        yield block


def render_cited(answer: "types.CitedAnswer") -> Parts:
    """Renders the sentences with their ids, then the source of each id."""
    if answer.is_known and answer.is_extractive:
        yield dim("Verbatim quotes, no model used.")
    yield answer.text if answer.is_known else warning(answer.text)
    if answer.nearest:
        yield dim(f"Nearest, but no answer: {answer.nearest}")
    if answer.citations:
        yield ""
    for citation in answer.citations:
        yield bold(f"{citation.id}  ", _origin(citation), "dim")
    for dropped in answer.dropped:
        yield warning(f"dropped: {dropped.text} ({dropped.reason})")
    if answer.cost.model_calls:
        yield dim(f"{answer.cost.model_tokens:,} tokens, ${answer.cost.usd:.4f}")


def render_noted(noted: "types.Noted") -> Parts:
    """Renders the fact that was written."""
    yield bold(noted.memory_id, f" {noted.text}")
    replaced = f"; replaces {short_id(noted.replaces)}" if noted.replaces else ""
    facts = (noted.category, noted.priority, noted.project or "every project")
    yield dim(f"   {', '.join(facts)}{replaced}")


def render_rating(rating: "types.Rating") -> Parts:
    """Renders the rating that was written."""
    yield rating.sentence


def render_restored(restored: "types.Restored") -> Parts:
    """Renders the restored memories with their former states, and when recall returns them."""
    for memory in restored.memories:
        yield bold(short_id(memory.memory_id), f" {memory.text}")
        yield dim(f"   was {memory.state}")
    yield "Active again after the next `memory ingest`, or within minutes while `memory up` runs."


def render_forgetting(forgetting: "types.Forgetting") -> Parts:
    """Renders where the memory or the words were found, and what was erased."""
    for memory in forgetting.memories:
        yield bold(short_id(memory.memory_id), f" {memory.text}")
        yield dim(f"   {memory.state}, {memory.project or 'every project'}")
    observations = counted(forgetting.observation_count, "observation")
    messages = counted(len(forgetting.message_ids), "message")
    segments = counted(len(forgetting.segment_ids), "segment")
    yield f"Derived from {observations}, {messages} and {segments}."
    yield from _affected_messages(forgetting)
    for place in forgetting.found.places:
        files = counted(place.files, "object" if place.kind.startswith("git") else "file")
        yield f"   {place.kind}: {counted(place.count, 'occurrence')} in {files}"
    if forgetting.entry_lines:
        yield f"   {', '.join(forgetting.entry_lines)}"
    if forgetting.branches:
        yield f"   what-if branches, all of which are deleted: {', '.join(forgetting.branches)}"
    if forgetting.proof is None:
        is_committed = any(place.kind.startswith("git") for place in forgetting.found.places)
        commits = "; with --history also from the workspace's commits" if is_committed else ""
        yield dim(f"Nothing was changed. --apply erases it for good{commits}.")
        return
    searched = sum(forgetting.proof.looked_at.values())
    yield f"Erased. {searched:,} files and objects of git were searched again, each decoded."
    yield bold(forgetting.verdict, " --history rewrites it." if forgetting.is_in_history else "")
    if forgetting.is_gone:
        yield dim("The next run rebuilds without it what was derived from it.")


def _affected_messages(forgetting: "types.Forgetting") -> Parts:
    if forgetting.messages and not forgetting.is_applied:
        messages = counted(len(forgetting.messages), "message")
        yield f"In {messages} asterisks take the place of the phrase."
        yield dim("Until the next update the messages are not found at all.")


def render_pending(review: "types.Review") -> Parts:
    """Renders the pending proposals, and how to decide them."""
    yield from render_conflicts(review.conflicts)
    if not review.pending:
        yield "No proposal is pending."
        return
    for proposal in review.pending:
        yield bold(proposal.proposal_id, f" → {proposal.path}, {proposal.section}")
        yield f"   {proposal.text or 'Remove:'}"
        if proposal.entry:
            yield f"   {'instead of ' if proposal.text else ''}{proposal.entry}"
        until = f", expires {proposal.expires_at:%Y-%m-%d}" if proposal.expires_at else ""
        yield dim(f"   {proposal.reason}{until}")
    first = review.pending[0].proposal_id
    if review.pending_count > len(review.pending):
        share = f"{len(review.pending)} of {review.pending_count}, the most useful first"
        yield dim(f"{share}; the others follow as you decide.")
    commands = f'`memory review approve {first}`, `reject {first}`, `edit {first} "new wording"`'
    yield dim(f"Decide: {commands}; or in REVIEW.md.")


INGEST = "`memory ingest`, or a running `memory up` or service, builds memories from it."


def render_distilled(distilled: "types.Distilled") -> Parts:
    """Renders a page of a question, and what to do next."""
    call = f"memory_distill with question={distilled.question}"
    match distilled.state:
        case "nothing":
            yield f"No session waits. {distilled.text}".strip()
        case "known":
            yield f"{distilled.question} has an answer already; nothing was changed."
        case "stored":
            yield f"The answer about a session of {distilled.project} was stored. {INGEST}"
        case "question":
            place = f"page {distilled.page} of {distilled.pages}"
            yield f"Question {distilled.question}, project {distilled.project}, {place}"
            yield distilled.text
            yield "--- end of the page: what follows is not part of the session ---"
            if distilled.page < distilled.pages:
                yield f"Call {call} and page={distilled.page + 1} before you answer."
            else:
                yield f"Answer by the instructions on page 1: call {call} and answer."


def render_decided(decided: "types.Decided") -> Parts:
    """Renders the new state of each proposal."""
    for proposal in decided.decided:
        state = f"{proposal.proposal_id} {proposal.state}"
        yield bold(state, f" → {proposal.section}: {proposal.text}")
        yield dim(f"   {proposal.reason}")


def _facts(result: "types.Recalled", *, has_time: bool = False) -> str:
    """Returns the facts about a result on one line: the date, with the time in UTC where several
    are of one day, who said a memory, the project, the harness, tags and the id.
    """
    is_memory = result.kind in MEMORY_KINDS
    said_by = f"from {result.said_by}" if is_memory and result.said_by else ""
    id = short_id(result.memory_id) if is_memory else short_message_id(result.memory_id)
    on = f"{result.event_at:%Y-%m-%d %H:%MZ}" if has_time else f"{result.event_at:%Y-%m-%d}"
    about = (on, said_by, result.project, HARNESS_TITLES.get(result.harness))
    tags = [tag.replace("linked:", "linked by ") for tag in result.tags]
    return ", ".join([*filter(None, about), *tags, id])


def _origin(citation: "types.Citation") -> str:
    """Returns the kind of source, its date, and its place."""
    if not citation.session:
        return f"line {ranges(citation.lines)} of {citation.path}"
    on = f" of {citation.event_at:%Y-%m-%d}" if citation.event_at else ""
    by = f", said by {citation.said_by}" if citation.said_by else ""
    return f"{citation.kind}{on}{by}; session {citation.session}{_records(citation.lines)}"


def _records(lines: Sequence[int]) -> str:
    return f", records {ranges(lines)}" if lines else ""


def render_conflicts(conflicts: "Sequence[types.AdrContradiction]") -> Parts:
    """Renders the memories that contradict a decision record, and how to settle it."""
    for conflict in conflicts:
        record = f"ADR-{conflict.number:04d} of {conflict.project}"
        yield warning(f"{record} contradicts a memory ({conflict.reason}):")
        yield f"   the record: {conflict.statement}"
        yield f"   the memory: {conflict.text}"
        memory = short_id(conflict.memory_id)
        yield dim(
            f'   `memory remember "…" --instead-of {memory}` corrects the memory; a newer '
            f"record supersedes {conflict.path}"
        )
