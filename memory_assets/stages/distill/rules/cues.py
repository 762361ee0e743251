"""Regular expressions that classify sentences: tables of cues in order of precedence, and single patterns.

The owner and the assistant have separate tables, because the same word means different things: "never" from the owner is a
rule, from the assistant an observation. The patterns come from sessions of many projects.
"""

import re
from dataclasses import dataclass
from typing import cast

from memory_assets.stages.distill.rules.candidates import FactKind


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern, the kind of fact that it indicates, and how useful such a fact is (0 to 1)."""

    name: str
    kind: FactKind
    worth: float
    pattern: re.Pattern[str]


def _parse_cues(table: str) -> tuple[Cue, ...]:
    """Parses entries: a line `name, kind, worth`, then the pattern, indented; its lines are joined without spaces."""
    entries = re.findall(r"^(\w.*), (\w+), ([\d.]+)\n((?:    .+\n)+)", table, re.M)
    return tuple(
        Cue(name, cast(FactKind, kind), float(worth), re.compile("".join(map(str.strip, lines.splitlines())), re.I))
        for name, kind, worth, lines in entries
    )


OWNER_CUES = _parse_cues(r"""
forbids, rule, 0.95
    \b(?:never|must(?:n'?t| not)|(?:do ?n[o']t|don'?t) (?:ever )?(?:use|add|commit|push|touch|change|put|create|mention
    |write|edit|run|remove|delete|include|call|make|mock|install)|no more|stop (?:using|adding|doing|putting|making)|not allowed
    |not subject to|forbidden)\b
always, rule, 0.95
    \b(?:always|from now on|every ?time|by default we|in general|as a rule|going forward|must (?:be|have|use|stay|always|keep
    |ask|run|go|match|work|exist)|(?:has|have|needs?|ought) to (?:be|stay|go|have|use|keep|match|work)|should (?:always|never
    |only))\b
we are, correction, 0.9
    \b(?:we|it|this|that|they|git|i)(?:'re| are|'s| is|'m| am) (?:also|not|only|still|just for|never|actually)\b
    |\bthat'?s (?:just|only) for\b
use instead, correction, 0.95
    \buse \S+(?: \S+){0,4},? (?:not|never|instead of|rather than)\b|\b(?:instead of|rather than)\b|,\s*not\s+(?:the\s+)?\S+
denies, correction, 0.8
    ^(?:oh |ah |hmm,? |well,? )?(?:no|nope|nah|wrong|not (?:quite|really|like|what|the|that)|that'?s (?:not|wrong)|sorry|wait
    |but (?:i|we|it|this|that|then|the|in|why))\b
dislikes, preference, 0.85
    \b(?:i|we) (?:really )?(?:do ?n[o']t|don'?t|dont|wouldn'?t) (?:\w+ ){0,2}(?:want|like|need|care|think (?:we|i|it))\b
    |\btoo (?:much|many|long|verbose|complex|big|noisy|wordy|generic|technical)\b|\bi hate\b
prefers, preference, 0.85
    \b(?:i|we)(?:'d| would)? (?:really |just |also )?(?:prefer|rather|like|love|want(?: it| this| the| to be able)?|wish
    |was looking for)\b|\bwish it\b|\bprefer(?:ably|red|ence)?\b|\bshould (?:be|say|not|have|use|go|look|stay|focus|live|mention
    |show|read)\b|\bmore (?:intuitive|focused|readable|concise)\b
fine with, decision, 0.8
    \b(?:i'?m|i am|we'?re|i'?d(?: be)?) (?:actually )?(?:fine|ok(?:ay)?|good|happy) (?:with|to|\w+ing)\b|\bthat'?s (?:fine
    |ok(?:ay)?|acceptable)\b|\btrade ?-?off\b|\b(?:is|sounds?) (?:marginal|reasonable|acceptable)\b
decides, decision, 0.8
    \b(?:let'?s|lets) (?!see|look|check|wait|commit|push|run|try|continue|start|test|debug|confirm|review|ship)\w+|\b(?:stick|go
    |went) (?:to|with)\b|\bwe(?:'ll| will| decided| chose| agreed)\b|\bthe (?:plan|idea|goal|assumption) (?:is|was)\b
replaces, decision, 0.8
    \b(?:put (?:it|this|that|them) (?:back|in)|switch (?:back )?to|rename|move (?:it|them|this|the)|drop (?:it|the|this|that)
    |get rid of|throw out|revert|go back to|replace)\b
state, fact, 0.75
    \bwe (?:also )?(?:renamed|moved|switched|dropped|removed|deprecated)\b|\bstays\b|\b(?:is|are) (?:now|still|called|named
    |located|private|public|required|deprecated|owned|only)\b|\bthere (?:is|are) only\b|\bnow (?:uses|lives|at|in|called)\b
    |\bwe (?:have|use|already|only|keep)\b
soft question, preference, 0.7
    (?:\b(?:do|did|should|shouldn'?t|can'?t|couldn'?t|wouldn'?t|isn'?t|aren'?t|don'?t|would) (?:we|it|this|that
    |i)\b.{0,60}\b(?:need|better|simpler|rather|also|instead|already|only|just|really|be|use|enough)\b.*\?)|\b(?:maybe|mayxbe
    |perhaps) (?:we|you|it)\b|\bi wonder\b|\bcan we (?:also |maybe |even |at least )?(?:only|just|drop|remove|rename|avoid|keep
    |use|pin|switch|have)\b|\bwhat about\b|\bare we (?:using|also|still)\b
asks for, decision, 0.62
    ^(?:(?:yes|yeah|ok(?:ay)?|and|so|also|please|then|now|can you|could you|can we|we should|you should|i want you to
    |for [^,.]{2,40}?)[,. ]+)*(?:add|use|keep|make|remove|pin|register|split|rename|move|replace|drop|change|put|include|require
    |reject|support|allow|disable|enable|skip|ignore|name|call|store|write|update|limit|cap|only|ensure|make sure)\b
""")

SOFT_QUESTION = next(cue for cue in OWNER_CUES if cue.name == "soft question")
STATED_ONLY = frozenset({"forbids", "always", "dislikes", "prefers", "state", "asks for"})
"""Cues that do not count inside a question, unless it is a soft question."""

UNSURE = re.compile(r"\b(?:right|correct|or|no)\s*\?$|\?\s*$", re.I)
"""A question, even if it is worded as a statement."""

CONCEDES = re.compile(
    r"(?i)\b(?:you(?:'re|’re| are) (?:absolutely |totally |completely |exactly )?right|good (?:catch|call|point)|fair (?:point"
    r"|enough)|agreed|exactly right|yep, (?:that|exactly|agreed|good)|you(?:'re|’re| are) right to|that(?:'s|’s| is) (?:better"
    r"|cleaner|a (?:clean|good|fair|better|real))|my mistake|i should have|scrap (?:that|the)|got it|understood)\b"
)
"""The assistant concedes a point: the turn before it was a correction."""

FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|so|and|yeah|yes|well|hmm|alright|sorry|also|now|then|but|cool|i think)\b[,. ]*)+(?=\w)", re.I
)
"""Filler at the start of a turn. A "no" is not filler."""

ONE_OFF = re.compile(
    r"(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|sure|and|so|also|please|then|now|cool|great|nice|perfect|good|thanks?|can you|could you"
    r"|can we|let'?s|lets|i want you to|go ahead and|just)[,.! ]+)*(?:commit|push|rebase|merge|continue|go on|proceed"
    r"|open (?:a |the )?pr|create (?:a |the )?(?:draft )?(?:pr|branch|commit)|make (?:a |the )?(?:pr|branch|commit)\b|run|rerun"
    r"|re-run|check|look|show|tell|explain|investigate|review|read|test|try|fix (?:it|this|them|that|the|all|these|ci|lint)"
    r"|ship|deploy|squash|amend|ammend|implement|start|stop|wait|help|see|find|summari[sz]e|confirm|debug|verify|do (?:it|that"
    r"|this)|draft|list|describe|walk)\b"
)
"""One-off tasks: nothing in them is worth keeping."""

TROUBLE = re.compile(
    r"(?i)\b(?:crash(?:es|ed|ing)?|(?:got|get|getting|gives?|see|seeing|hit) (?:me )?(?:a|an|the|this|these"
    r"|that) (?:\w+ )?(?:errors?|crash|warnings?)|(?:does ?n'?t|do ?n'?t|did ?n'?t|is ?n'?t|not) work\w*|(?:is|are) (?:broken"
    r"|failing|stuck)|fucked|what (?:is|'s) wrong)\b"
)
"""The owner reports trouble."""

ASKS_WHY = re.compile(
    r"(?i)\b(?:explain|help me (?:to )?understand|(?:not sure|don'?t) (?:i )?understand|(?:i'?m"
    r"|i am) (?:\w+ ){0,2}(?:struggling|confused)|what do you think|let me know what|i want you to"
    r"|i (?:just )?want to (?:continue|run|test|try|see|look|check))\b"
)
"""The owner asks for an explanation."""

RELAYS = re.compile(
    r"(?i)(?<!\bi )(?<!\bwe )\b(?:says?|said|wrote|writes|claims?|claimed|told (?:me|us)|suggests?|recommends?|replied|answered"
    r"|according to|commented|mentions?)\b[^.?!:]{0,40}(?::|[“\"'])"
)
"""Words of somebody else follow."""

QUESTION = re.compile(
    r"(?i)\?\s*$|^(?:what|why|how|where|when|who|which|is|are|does|do|did|can|could|would|should|will|has|have|any|isn'?t|was"
    r"|were)\b(?!.*[.!]$)"
)

APPROVAL = re.compile(
    r"(?i)^(?:(?:oh|ah|hmm|and|so|cool|great|nice)[,. ]+)?(?:yes|yeah|yep|yup|ya|ok(?:ay)?|sure|agreed?|approved?|lgtm"
    r"|go(?: ahead| for it)?|do (?:it|that|this|so|[a-h1-9]\b|both|all|option)|let'?s (?:do|go)|lets (?:do|go)|sounds? (?:good"
    r"|great|reasonable)|perfect|exactly|correct|right|please do|make it so|(?:option |variant )?[a-h1-9](?:\b|$)|both"
    r"|all of (?:them|it)|the (?:first|second|third|last|former|latter)(?: one)?\s*[.!]?$|or no,? do)(?:\b|$)"
)
PICKS = re.compile(r"(?<![\w#./-])(?:option\s+|do\s+|#)?([1-9]|[a-hA-H])(?=$|[\s,.+&)!]|\s*(?:and|,|\+))")
EMPTY_PROPOSAL = re.compile(
    r"(?i)\b(?:commit|push|open (?:a |the )?pr|pull request|rebase|merge|run (?:it|them|the|this)|proceed|continue|look|check"
    r"|draft|ready|next section|go deeper|dig|force-push|brainstorm\w*|task tracking|(?:same|this|current) session)\b"
)

PROPOSAL = re.compile(
    r"(?i)\b(?:i(?:'d| would) (?:recommend|suggest|go|lean|keep|use|add|drop|make|put|do|start|say|pick)|my (?:take"
    r"|recommendation|suggestion|vote|preference|lean)|recommend(?:ed|ation)?|suggest(?:ed|ion)?|the (?:simplest|cleanest|best"
    r"|right|easiest) (?:fix|approach|choice|option|thing|way|path)|want me to|should i|shall i|would you like|proposal|propose"
    r"|best (?:fix|option|spot)|option [a-e1-5]\b|plan (?:is|would be))\b"
)

ASSISTANT_CUES = _parse_cues(r"""
root cause, root_cause, 0.95
    \broot cause|\bthe (?:actual |real |core |underlying )?(?:problem|issue|bug|culprit|cause) (?:is|was|turned out)\b|\b(?:was
    |is|were|are) caused by\b|\bturns out\b|\bthe (?:reason|fix) (?:is|was)\b|\bfixed by\b|\bthat'?s why\b|\bwhich is why\b
    |\bthe fix (?:replaces|removes|adds|is)\b
reason, fact, 0.8
    \bbecause\b|\bso that\b|\bsince (?:the|it|we|git|that|a)\b|\bdue to\b|\botherwise\b|\bto avoid\b|\bwithout (?:it|this
    |that)\b
gotcha, gotcha, 0.85
    \b(?:does(?:n'?t| not)|do(?:n'?t| not)|can(?:'?t|not)|won'?t|never|fails?|rejects?|refuses?|breaks?|requires?|needs?|must
    |only (?:works|applies|accepts|handles|runs|when|if)|silently|ignored?s?|not (?:atomic|supported|available|reliably
    |on (?:the )?path))\b
changed, state_change, 0.85
    \b(?:replaced|replaces|replacing|renamed|migrated|moved|switched|converted|dropped|bumped|upgraded|downgraded|updated
    |no longer|instead of|in favou?r of|now (?:uses?|lives?|runs?|returns?|points?|rejects?|falls?|has|goes|is|fails?|supports?
    |calls?))\b|→|->
added, state_change, 0.75
    ^(?:i(?:'ve| have)? )?(?:also )?(?:added|introduced|created|removed|deleted|split|pinned|extracted|restored|reverted
    |implemented|exported|registered|wired|kept|set|rewrote|disabled|enabled|excluded)\b
is, fact, 0.7
    \b(?:is|are|lives?|sits?|runs?|uses?|takes?|returns?|means?|contains?|holds?|handles?|supports?|comes? from|works?|equals?
    |equivalent|carries|maps?|calls?|reads?|writes?|prints?|expects?|allows?)\b
""")

NARRATION = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|good|great|perfect|alright|right|yep|yes|sure|got it|now|next|first|then|so|and|done|clean|nice"
    r"|interesting|hmm|wait)[,.!:—– -]+)*(?:let me|let'?s|i(?:'ll| will|'ve got| am going to|(?:'m| am) (?:now |also "
    r"|just )?\w+ing\b| can see| need to| want to| see\b| found\b| think i| now have| have (?:a |the |enough|full)| should)"
    r"|(?:now |next |time )?(?:checking|running|looking|reading|verifying|updating|adding|writing|creating|fixing|building"
    r"|testing|waiting|starting|committing|pushing|moving on|dispatching|proceeding|launching)\b|now (?:the|add|update|let|i"
    r"|verify|run|fix|wire|for|stage|commit|create|edit|test|check|write|also|apply|implement|build|remove|on)\b|here(?:'s| is"
    r"| are)\b|(?:check|verify|run|rerun) (?:if|that|whether|the|it)\b|task \d|no response requested|next(?: step)?s?:)"
)
PLANS = re.compile(r"\bI(?:'ll| will|'m going to| am going to)\b")
"""Announced work; only finished work is worth keeping."""

STATUS = re.compile(
    r"(?i)\b(?:all (?:tests?|checks?|green|clean|pass\w*|good|set|done)|tests? (?:and lint )?pass(?:es|ed|ing)?"
    r"|lint (?:is )?(?:clean|pass\w*)|builds? (?:clean|passes|succeeds?|is green)|everything is (?:clean|green)"
    r"|0 issues|no (?:lint )?issues|ready (?:to|for|when)|let me know|working tree|uncommitted|untracked|force-push(?:ed|es)?"
    r"|pushed (?:to|commit|as)?|committed (?:as|on|to)?|commits? ahead|diverged|when you(?:'re| are) ready|want me to"
    r"|would you like|awaiting|in progress|remaining tasks?|tests? (?:are )?green|git diff --check|no conflicts|(?:applied"
    r"|completed|rebased) cleanly|new commit|commit is|done in \d)\b|✓|✅"
)
REPORTS_DONE = re.compile(
    r"(?i)\b(?:all|both|each|every(?:thing)?)\b[^.]*\b(?:fixed|addressed|done|resolved|clean|green|pass(?:es|ed|ing)?|landed|in"
    r"|handled|applied|committed|updated|pushed|complete|implemented)\b|^(?:done|fixed|committed|pushed|landed|addressed)\b"
)
"""A line above a list that only reports completion: "All four issues are fixed"."""

HEDGE = re.compile(
    r"(?i)\b(?:probably|likely|maybe|perhaps|hunch|hypothes\w+|suspect|my guess|i think|might|could be|could also|presumably"
    r"|if (?:my|the) (?:diagnosis|hypothesis|theory)|smoking gun|suggests?|seems?|appears?|not sure|unclear"
    r"|should (?:now )?(?:work|render|fix|be))\b"
)
OPTION = re.compile(
    r"(?i)^\(?(?:option|approach|variant|fix|choice|question|step|phase|task|tweet|scene|shot|slide)\s*(?:[A-H1-9]\b|\d)"
    r"|\b(?:would (?:be|need|have|make|let|mean|work|also|require)|i(?:'d| would)|you (?:could|can|might|would|may)|we (?:could"
    r"|might|can)|if you (?:want|prefer|'d like|need|run|use|see)|alternatively|one option|another option|pros|cons|tradeoff"
    r"|trade-off|recommended?|worth (?:it|considering|adding|a)|pick (?:one|whichever)|either way|suggest\w*)\b"
)
ADDRESS = re.compile(
    r"(?i)^(?:(?:yep|yes|yeah|ah|oh|exactly|agreed|correct|good catch|great|sure|right|fair|done|fixed|got it|perfect|nice"
    r"|you(?:'re| are) (?:right|absolutely right)|good (?:call|point|instinct|question|news|idea)|that'?s (?:right|fair|a good)"
    r"|sorry|no|ok(?:ay)?|all (?:green|clean|good)|hit a snag|interesting)\b[^.!?:;—–]{0,60}[.!?:;,—–]+\s*)+"
)
NOTE = re.compile(
    r"(?i)^(?:(?:one|two|a|an|quick|small|important|side|key|last|final|extra|another)\s+)*(?:note|heads[- ]up|tip|fyi|bit"
    r"|update|correction|observation|reminder|wrinkle|caveat|catch|thing|detail)\b[^:.`]{0,40}:\s*(?=\S)"
)
"""A label without content, such as "One important note:"."""

OVERTURNS = re.compile(
    r"(?i)\b(?:diagnosis (?:was|is) (?:wrong|incomplete|incorrect|off)|i was wrong|(?:my|the) (?:earlier|previous|first"
    r"|original|initial) (?:diagnosis|claim|assumption|theory|hypothesis|fix|answer|explanation|reading|proposal|suggestion"
    r"|approach)|not the (?:cause|issue|problem|bug|reason)|wasn'?t the|was(?:n'?t| not) (?:caused|the cause)|turns out|in fact"
    r"|correct(?:ion|ing)|contrary to|refut\w+|disprov\w+|rul(?:es?|ed) out|scrap|retract|overturned|replaces? the (?:earlier"
    r"|previous)|no longer|revert\w*|i misread|i misspoke|reframes|changes the diagnosis)\b"
)
CHANGES_MIND = re.compile(
    r"(?i)^(?:oh |hmm,? |actually,? |sorry,? |wait,? )*(?:or )?(?:no\b|nope|actually\b|wait\b|changed my mind)|\bchange (?:of"
    r"|in) plan\b|\binstead\b|\bnot\b.{1,40}\bbut\b|\b(?:go|put (?:it|this|that)|switch|revert) back\b|\bon second thought\b"
    r"|\brather than\b|\bok(?:ay)?,? change\b|\bno longer\b|\bonce more from\b"
)
"""The owner changes an earlier decision."""

REJECTS = re.compile(
    r"(?i)^(?:oh |hmm,? |but |well,? |sorry,? )*(?:no\b|nope|nah|not\b|wrong|that'?s (?:not|wrong)|but\b|it (?:still|did ?n'?t"
    r"|does ?n'?t)|still\b|doesn'?t|didn'?t|actually\b|wait\b|why (?:did|do|are|is)|or no\b)"
)
LOOSE_START = re.compile(
    r"(?i)^(?:it|this|that|these|those|they|he|she|its|their|both|the (?:latter|former|same|other)|which|then|so|but|and|or"
    r"|also|otherwise|instead|same|either|neither|here|there(?! (?:is|are|was|were) (?:no|a|an|only|two|three)\b)|(?:all|some"
    r"|most|none|any|each|one|two) (?:of (?:it|them|this|these|those)|two|three|four|five))\b"
)
PROPOSES = re.compile(r"\b(?:plan|propos\w+|suggest\w*|recommend\w*|approach\w*|options?)\b", re.I)
"""The message discusses options; most of them are never done."""

TO_DO = re.compile(
    r"(?i)^(?:[^:]{3,40}: )?(?:add|put|move|keep|use|create|replace|rename|drop|remove|run|make|set|split|write|update|leave"
    r"|export|narrow|expose|define|pick|start|switch|copy|check|open|install|build|bump|delete|fix|change|include|show|skip"
    r"|wrap|call|return|store)\b"
)
"""An imperative: work that is proposed."""

DID = re.compile(
    r"(?i)^(?:[^:]{3,40}: )?(?:added|updated|removed|replaced|renamed|fixed|created|changed|moved|switched|restored|dropped"
    r"|bumped|converted|rewrote|wrapped|split|pinned|reverted|set)\b"
)
"""A past participle: work that is finished."""

SPEAKS = re.compile(
    r"(?<![\w'`./-])(?:I|I'\w+|[Mm]e|[Mm]y|[Yy]ou|[Yy]our|[Yy]ours|[Yy]ou'\w+|[Yy]ourself|[Ll]et's)(?![\w'`/-])"
)
"""First or second person: unclear outside of the conversation."""

FIRST_PERSON = re.compile(
    r"(?i)^(?:(?:so|and|then|also)[, ]+)?i(?:'ve| have)? (?=(?:also )?(?:added|introduced|created|removed|deleted|split|pinned"
    r"|extracted|restored|reverted|implemented|exported|registered|wired|kept|set|rewrote|disabled|enabled|excluded|updated"
    r"|changed|moved|renamed|fixed|switched|replaced|converted|rebased|put|dropped|left|verified|confirmed)\b)"
)
