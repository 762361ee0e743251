"""The words that tell what a sentence is: tables of patterns with what each means, first match wins.

Owner's sentences and assistant's sentences have tables of their own, because the same word weighs differently:
"never" from the owner is a rule, from an assistant an observation. Patterns were written from how people talk in
sessions, not from one project.
"""

import re
from dataclasses import dataclass

from memory_assets.stages.distill.rules.candidates import FactKind


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern, the kind of fact it tells, and how much such a fact is worth keeping (0 to 1)."""

    name: str
    kind: FactKind
    words: re.Pattern[str]
    worth: float


def _cue(name: str, kind: FactKind, worth: float, pattern: str) -> Cue:
    return Cue(name, kind, re.compile(pattern, re.I), worth)


OWNER_CUES: tuple[Cue, ...] = (
    _cue(
        "forbids",
        "rule",
        0.95,
        r"\b(?:never|must(?:n'?t| not)|do ?n[o']t (?:ever )?(?:use|add|commit|push|touch|change|put|create|mention|write|edit"
        r"|run|remove|delete|include|call|make|mock|install)|don'?t (?:ever )?(?:use|add|commit|push|touch|change|put"
        r"|create|mention|write|edit"
        r"|run|remove|delete|include|call|make|mock|install)|no more|stop (?:using|adding|doing|putting|making)"
        r"|not allowed|not subject to|forbidden)\b",
    ),
    _cue(
        "always",
        "rule",
        0.95,
        r"\b(?:always|from now on|every ?time|by default we|in general|as a rule|going forward|must (?:be|have|use|stay"
        r"|always|keep|ask|run|go|match|work|exist)"
        r"|(?:has|have|needs?|ought) to (?:be|stay|go|have|use|keep|match|work)|should (?:always|never|only))\b",
    ),
    _cue(
        "we are",
        "correction",
        0.9,
        r"\b(?:we|it|this|that|they|git|i)(?:'re| are|'s| is|'m| am) (?:also|not|only|still|just for|never|actually)\b"
        r"|\bthat'?s (?:just|only) for\b",
    ),
    _cue(
        "use instead",
        "correction",
        0.95,
        r"\buse \S+(?: \S+){0,4},? (?:not|never|instead of|rather than)\b|\b(?:instead of|rather than)\b"
        r"|,\s*not\s+(?:the\s+)?\S+",
    ),
    _cue(
        "denies",
        "correction",
        0.8,
        r"^(?:oh |ah |hmm,? |well,? )?(?:no|nope|nah|wrong|not (?:quite|really|like|what|the|that)|that'?s (?:not"
        r"|wrong)|sorry|wait|but (?:i|we|it|this|that|then|the|in|why))\b",
    ),
    _cue(
        "dislikes",
        "preference",
        0.85,
        r"\b(?:i|we) (?:really )?(?:do ?n[o']t|don'?t|dont|wouldn'?t) (?:\w+ ){0,2}(?:want|like|need|care|think (?:we|i"
        r"|it))\b|\btoo (?:much|many|long|verbose|complex|big|noisy|wordy|generic|technical)\b|\bi hate\b",
    ),
    _cue(
        "prefers",
        "preference",
        0.85,
        r"\b(?:i|we)(?:'d| would)? (?:really |just |also )?(?:prefer|rather|like|love|want(?: it| this| the| to be able)?|wish"
        r"|was looking for)\b|\bwish it\b|\bprefer(?:ably|red|ence)?\b|\bshould (?:be|say|not|have|use|go|look|stay"
        r"|focus|live|mention|show|read)\b|\bmore (?:intuitive|focused|readable|concise)\b",
    ),
    _cue(
        "fine with",
        "decision",
        0.8,
        r"\b(?:i'?m|i am|we'?re|i'?d(?: be)?) (?:actually )?(?:fine|ok(?:ay)?|good|happy) (?:with|to|\w+ing)\b"
        r"|\bthat'?s (?:fine|ok(?:ay)?"
        r"|acceptable)\b|\btrade ?-?off\b|\b(?:is|sounds?) (?:marginal|reasonable|acceptable)\b",
    ),
    _cue(
        "decides",
        "decision",
        0.8,
        r"\b(?:let'?s|lets) (?!see|look|check|wait|commit|push|run|try|continue|start|test|debug|confirm|review"
        r"|ship)\w+|\b(?:stick|go|went) (?:to|with)\b|\bwe(?:'ll| will| decided| chose| agreed)\b|\bthe (?:plan"
        r"|idea|goal|assumption) (?:is|was)\b",
    ),
    _cue(
        "replaces",
        "decision",
        0.8,
        r"\b(?:put (?:it|this|that|them) (?:back|in)|switch (?:back )?to|rename|move (?:it|them|this|the)|drop (?:it"
        r"|the|this|that)|get rid of|throw out|revert|go back to|replace)\b",
    ),
    _cue(
        "state",
        "fact",
        0.75,
        r"\bwe (?:also )?(?:renamed|moved|switched|dropped|removed|deprecated)\b|\bstays\b"
        r"|\b(?:is|are) (?:now|still|called|named|located|private|public|required|deprecated|owned|only)\b|\bthere (?:is"
        r"|are) only\b|\bnow (?:uses|lives|at|in|called)\b|\bwe (?:have|use|already|only|keep)\b",
    ),
    _cue(
        "soft question",
        "preference",
        0.7,
        r"(?:\b(?:do|did|should|shouldn'?t|can'?t|couldn'?t|wouldn'?t|isn'?t|aren'?t|don'?t|would) (?:we|it|this|that"
        r"|i)\b.{0,60}\b(?:need|better|simpler|rather|also|instead|already|only|just|really|be|use|enough)\b.*\?)"
        r"|\b(?:maybe|mayxbe|perhaps) (?:we|you|it)\b|\bi wonder\b|\bcan we (?:also |maybe |even |at least )?(?:only"
        r"|just|drop|remove|rename|avoid|keep|use|pin|switch|have)\b|\bwhat about\b|\bare we (?:using|also|still)\b",
    ),
    _cue(
        "asks for",
        "decision",
        0.62,
        r"^(?:(?:yes|yeah|ok(?:ay)?|and|so|also|please|then|now|can you|could you|can we|we should|you should"
        r"|i want you to|for [^,.]{2,40}?)[,. ]+)*(?:add|use|keep|make|remove|pin|register|split|rename|move|replace"
        r"|drop|change|put|include|require|reject|support|allow|disable|enable|skip|ignore|name|call|store|write|update"
        r"|limit|cap|only|ensure|make sure)\b",
    ),
)

SOFT_QUESTION = next(cue for cue in OWNER_CUES if cue.name == "soft question")
STATED_ONLY = frozenset({"forbids", "always", "dislikes", "prefers", "state", "asks for"})
"""Cues that mean nothing inside a question, unless it is a soft one."""

UNSURE = re.compile(r"\b(?:right|correct|or|no)\s*\?$|\?\s*$", re.I)
"""The owner asks rather than says, whatever the sentence looks like."""

CONCEDES = re.compile(
    r"\b(?:you(?:'re|’re| are) (?:absolutely |totally |completely |exactly )?right|good (?:catch|call|point)"
    r"|fair (?:point|enough)|agreed|exactly right|yep, (?:that|exactly|agreed|good)|you(?:'re|’re| are) right to"
    r"|that(?:'s|’s| is) (?:better|cleaner|a (?:clean|good|fair|better|real))|my mistake|i should have|scrap (?:that"
    r"|the)|got it|understood)\b",
    re.I,
)
"""An assistant giving in: what it answers to was a correction."""

FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|so|and|yeah|yes|well|hmm|alright|sorry|also|now|then|but|cool|i think)\b[,. ]*)+(?=\w)", re.I
)
"""How people begin to type; it says nothing. A "no" stays."""

ONE_OFF = re.compile(
    r"^(?:(?:yes|yeah|yep|ok(?:ay)?|sure|and|so|also|please|then|now|cool|great|nice|perfect|good|thanks?|can you"
    r"|could you|can we|let'?s|lets|i want you to|go ahead and|just)[,.! ]+)*"
    r"(?:commit|push|rebase|merge|continue|go on|proceed|open (?:a |the )?pr|create (?:a |the )?(?:draft )?(?:pr|branch"
    r"|commit)|make (?:a |the )?(?:pr|branch|commit)\b|run|rerun|re-run"
    r"|check|look|show|tell|explain|investigate|review|read|test|try|fix (?:it|this|them|that|the|all|these|ci|lint)"
    r"|ship|deploy|squash|amend|ammend|implement|start|stop|wait|help|see|find|summari[sz]e|confirm|debug|verify"
    r"|do (?:it|that|this)|draft|list|describe|walk)\b",
    re.I,
)
"""Errands: they are done once and teach nothing."""

TROUBLE = re.compile(
    r"\b(?:crash(?:es|ed|ing)?|(?:got|get|getting|gives?|see|seeing|hit) (?:me )?(?:a|an|the|this|these|that) (?:\w+ )?"
    r"(?:errors?|crash|warnings?)|(?:does ?n'?t|do ?n'?t|did ?n'?t|is ?n'?t|not) work\w*"
    r"|(?:is|are) (?:broken|failing|stuck)|fucked|what (?:is|'s) wrong)\b",
    re.I,
)
"""The owner reports trouble."""

ASKS_WHY = re.compile(
    r"\b(?:explain|help me (?:to )?understand|(?:not sure|don'?t) (?:i )?understand"
    r"|(?:i'?m|i am) (?:\w+ ){0,2}(?:struggling|confused)|what do you think|let me know what"
    r"|i want you to|i (?:just )?want to (?:continue|run|test|try|see|look|check))\b",
    re.I,
)
"""The owner wants to be told something."""

RELAYS = re.compile(
    r"(?<!\bi )(?<!\bwe )\b(?:says?|said|wrote|writes|claims?|claimed|told (?:me|us)|suggests?|recommends?|replied|answered"
    r"|according to|commented|mentions?)\b[^.?!:]{0,40}(?::|[“\"'])",
    re.I,
)
"""The words of somebody else follow."""

QUESTION = re.compile(
    r"\?\s*$|^(?:what|why|how|where|when|who|which|is|are|does|do|did|can|could|would|should|will|has|have|any|isn'?t"
    r"|was|were)\b(?!.*[.!]$)",
    re.I,
)

APPROVAL = re.compile(
    r"^(?:(?:oh|ah|hmm|and|so|cool|great|nice)[,. ]+)?(?:yes|yeah|yep|yup|ya|ok(?:ay)?|sure|agreed?|approved?|lgtm"
    r"|go(?: ahead| for it)?|do (?:it|that|this|so|[a-h1-9]\b|both|all|option)|let'?s (?:do|go)|lets (?:do|go)"
    r"|sounds? (?:good|great|reasonable)"
    r"|perfect|exactly|correct|right|please do|make it so|(?:option |variant )?[a-h1-9](?:\b|$)|both|all of (?:them|it)"
    r"|the (?:first|second|third|last|former|latter)(?: one)?\s*[.!]?$|or no,? do)(?:\b|$)",
    re.I,
)
PICKS = re.compile(r"(?<![\w#./-])(?:option\s+|do\s+|#)?([1-9]|[a-hA-H])(?=$|[\s,.+&)!]|\s*(?:and|,|\+))")
EMPTY_PROPOSAL = re.compile(
    r"\b(?:commit|push|open (?:a |the )?pr|pull request|rebase|merge|run (?:it|them|the|this)|proceed|continue|look"
    r"|check|draft|ready|next section|go deeper|dig|force-push|brainstorm\w*|task tracking|(?:same|this"
    r"|current) session)\b",
    re.I,
)

PROPOSAL = re.compile(
    r"\b(?:i(?:'d| would) (?:recommend|suggest|go|lean|keep|use|add|drop|make|put|do|start|say|pick)|my (?:take"
    r"|recommendation|suggestion|vote|preference|lean)|recommend(?:ed|ation)?|suggest(?:ed|ion)?"
    r"|the (?:simplest|cleanest|best|right|easiest) (?:fix|approach|choice|option|thing|way|path)|want me to|should i"
    r"|shall i|would you like|proposal|propose|best (?:fix|option|spot)|option [a-e1-5]\b|plan (?:is|would be))\b",
    re.I,
)

ASSISTANT_CUES: tuple[Cue, ...] = (
    _cue(
        "root cause",
        "root_cause",
        0.95,
        r"\broot cause|\bthe (?:actual |real |core |underlying )?(?:problem|issue|bug|culprit|cause) (?:is|was"
        r"|turned out)\b|\b(?:was|is|were|are) caused by\b|\bturns out\b|\bthe (?:reason|fix) (?:is|was)\b|\bfixed by\b"
        r"|\bthat'?s why\b|\bwhich is why\b|\bthe fix (?:replaces|removes|adds|is)\b",
    ),
    _cue(
        "reason",
        "fact",
        0.8,
        r"\bbecause\b|\bso that\b|\bsince (?:the|it|we|git|that|a)\b|\bdue to\b|\botherwise\b|\bto avoid\b"
        r"|\bwithout (?:it|this|that)\b",
    ),
    _cue(
        "gotcha",
        "gotcha",
        0.85,
        r"\b(?:does(?:n'?t| not)|do(?:n'?t| not)|can(?:'?t|not)|won'?t|never|fails?|rejects?|refuses?|breaks?|requires?"
        r"|needs?|must|only (?:works|applies|accepts|handles|runs|when|if)|silently|ignored?s?|not (?:atomic|supported"
        r"|available|reliably|on (?:the )?path))\b",
    ),
    _cue(
        "changed",
        "state_change",
        0.85,
        r"\b(?:replaced|replaces|replacing|renamed|migrated|moved|switched|converted|dropped|bumped|upgraded|downgraded"
        r"|updated|no longer|instead of|in favou?r of|now (?:uses?|lives?|runs?|returns?|points?|rejects?|falls?|has"
        r"|goes|is|fails?|supports?|calls?))\b|→|->",
    ),
    _cue(
        "added",
        "state_change",
        0.75,
        r"^(?:i(?:'ve| have)? )?(?:also )?(?:added|introduced|created|removed|deleted|split|pinned|extracted|restored"
        r"|reverted|implemented|exported|registered|wired|kept|set|rewrote|disabled|enabled|excluded)\b",
    ),
    _cue(
        "is",
        "fact",
        0.7,
        r"\b(?:is|are|lives?|sits?|runs?|uses?|takes?|returns?|means?|contains?|holds?|handles?|supports?|comes? from"
        r"|works?|equals?|equivalent|carries|maps?|calls?|reads?|writes?|prints?|expects?|allows?)\b",
    ),
)

NARRATION = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|alright|right|yep|yes|sure|got it|now|next|first|then|so|and|done|clean|nice"
    r"|interesting|hmm|wait)[,.!:—– -]+)*"
    r"(?:let me|let'?s|i(?:'ll| will|'ve got| am going to|(?:'m| am) (?:now |also |just )?\w+ing\b| can see| need to"
    r"| want to| see\b| found\b| think i| now have| have (?:a |the |enough|full)| should)"
    r"|(?:now |next |time )?(?:checking|running|looking|reading|verifying|updating|adding|writing|creating|fixing"
    r"|building|testing|waiting|starting|committing|pushing|moving on|dispatching|proceeding|launching)\b"
    r"|now (?:the|add|update|let|i|verify|run|fix|wire|for|stage|commit|create|edit|test|check|write|also|apply"
    r"|implement|build|remove|on)\b|here(?:'s| is| are)\b|(?:check|verify|run|rerun) (?:if|that|whether|the|it)\b"
    r"|task \d|no response requested|next(?: step)?s?:)",
    re.I,
)
PLANS = re.compile(r"\bI(?:'ll| will|'m going to| am going to)\b")
"""What somebody is about to do teaches nothing until it is done."""

STATUS = re.compile(
    r"\b(?:all (?:tests?|checks?|green|clean|pass\w*|good|set|done)|tests? (?:and lint )?pass(?:es|ed|ing)?"
    r"|lint (?:is )?(?:clean|pass\w*)|lint passes|builds? (?:clean|passes|succeeds?|is green)|everything is (?:clean"
    r"|green)|0 issues|no (?:lint )?issues"
    r"|ready (?:to|for|when)|let me know|working tree|uncommitted|untracked|force-push(?:ed|es)?|pushed (?:to|commit"
    r"|as)?|committed (?:as|on|to)?|commits? ahead|diverged|when you(?:'re| are) ready|want me to|would you like"
    r"|awaiting|in progress|remaining tasks?"
    r"|tests? (?:are )?green|git diff --check|no conflicts|(?:applied|completed|rebased) cleanly|new commit|commit is"
    r"|done in \d)\b|✓|✅",
    re.I,
)
REPORTS_DONE = re.compile(
    r"\b(?:all|both|each|every(?:thing)?)\b[^.]*\b(?:fixed|addressed|done|resolved|clean|green|pass(?:es|ed|ing)?|landed|in|handled"
    r"|applied|committed|updated|pushed|complete|implemented)\b|^(?:done|fixed|committed|pushed|landed|addressed)\b",
    re.I,
)
"""A line over a list that only says that all in it was done: "All four issues are fixed"."""
HEDGE = re.compile(
    r"\b(?:probably|likely|maybe|perhaps|hunch|hypothes\w+|suspect|my guess|i think|might|could be|could also"
    r"|presumably|if (?:my|the) (?:diagnosis|hypothesis|theory)|smoking gun|suggests?|seems?|appears?|not sure|unclear"
    r"|should (?:now )?(?:work|render|fix|be))\b",
    re.I,
)
OPTION = re.compile(
    r"^\(?(?:option|approach|variant|fix|choice|question|step|phase|task|tweet|scene|shot|slide)\s*(?:[A-H1-9]\b|\d)"
    r"|\b(?:would (?:be|need|have|make|let|mean|work|also|require)|i(?:'d| would)|you (?:could|can|might|would|may)"
    r"|we (?:could|might|can)|if you (?:want|prefer|'d like|need|run|use|see)|alternatively|one option|another option"
    r"|pros|cons|tradeoff|trade-off|recommended?|worth (?:it|considering|adding|a)|pick (?:one|whichever)|either way"
    r"|suggest\w*)\b",
    re.I,
)
ADDRESS = re.compile(
    r"^(?:(?:yep|yes|yeah|ah|oh|exactly|agreed|correct|good catch|great|sure|right|fair|done|fixed|got it|perfect|nice"
    r"|you(?:'re| are) (?:right|absolutely right)|good (?:call|point|instinct|question|news|idea)"
    r"|that'?s (?:right|fair|a good)|sorry|no|ok(?:ay)?|all (?:green|clean"
    r"|good)|hit a snag|interesting)\b[^.!?:;—–]{0,60}[.!?:;,—–]+\s*)+",
    re.I,
)
NOTE = re.compile(
    r"^(?:(?:one|two|a|an|quick|small|important|side|key|last|final|extra|another)\s+)*(?:note|heads[- ]up|tip|fyi|bit|update"
    r"|correction|observation|reminder|wrinkle|caveat|catch|thing|detail)\b[^:.`]{0,40}:\s*(?=\S)",
    re.I,
)
"""Draws the reader's eye, says nothing."""

OVERTURNS = re.compile(
    r"\b(?:diagnosis (?:was|is) (?:wrong|incomplete|incorrect|off)|i was wrong|(?:my|the) (?:earlier|previous|first"
    r"|original|initial) (?:diagnosis|claim|assumption|theory|hypothesis|fix|answer|explanation|reading|proposal"
    r"|suggestion|approach)"
    r"|not the (?:cause|issue|problem|bug|reason)|wasn'?t the|was(?:n'?t| not) (?:caused|the cause)|turns out|in fact"
    r"|correct(?:ion|ing)|contrary to|refut\w+|disprov\w+|rul(?:es?|ed) out|scrap|retract|overturned"
    r"|replaces? the (?:earlier|previous)|no longer|revert\w*|i misread|i misspoke|reframes|changes the diagnosis)\b",
    re.I,
)
CHANGES_MIND = re.compile(
    r"^(?:oh |hmm,? |actually,? |sorry,? |wait,? )*(?:or )?(?:no\b|nope|actually\b|wait\b|changed my mind)"
    r"|\bchange (?:of|in) plan\b"
    r"|\binstead\b|\bnot\b.{1,40}\bbut\b|\b(?:go|put (?:it|this|that)|switch|revert) back\b|\bon second thought\b"
    r"|\brather than\b|\bok(?:ay)?,? change\b|\bno longer\b|\bonce more from\b",
    re.I,
)
"""The owner wants something otherwise than before."""

REJECTS = re.compile(
    r"^(?:oh |hmm,? |but |well,? |sorry,? )*(?:no\b|nope|nah|not\b|wrong|that'?s (?:not|wrong)|but\b|it (?:still"
    r"|did ?n'?t|does ?n'?t)|still\b|doesn'?t|didn'?t|actually\b|wait\b|why (?:did|do|are|is)|or no\b)",
    re.I,
)
LOOSE_START = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|its|their|both|the (?:latter|former|same|other)|which|then|so|but|and|or"
    r"|also|otherwise|instead|same|either|neither|here|there(?! (?:is|are|was|were) (?:no|a|an|only|two|three)\b)"
    r"|(?:all|some|most|none|any|each|one|two) (?:of (?:it|them|this|these|those)|two|three|four|five))\b",
    re.I,
)
PROPOSES = re.compile(r"\b(?:plan|propos\w+|suggest\w*|recommend\w*|approach\w*|options?)\b", re.I)
"""A message with such a word is about what could be; most of it is never done."""

TO_DO = re.compile(
    r"^(?:[^:]{3,40}: )?(?:add|put|move|keep|use|create|replace|rename|drop|remove|run|make|set|split|write|update|leave|export"
    r"|narrow|expose|define|pick|start|switch|copy|check|open|install|build|bump|delete|fix|change|include|show|skip|wrap|call"
    r"|return|store)\b",
    re.I,
)
"""What is to be done, in a message that asks."""

DID = re.compile(
    r"^(?:[^:]{3,40}: )?(?:added|updated|removed|replaced|renamed|fixed|created|changed|moved|switched|restored|dropped|bumped"
    r"|converted|rewrote|wrapped|split|pinned|reverted|set)\b",
    re.I,
)
"""What was done."""

SPEAKS = re.compile(
    r"(?<![\w'`./-])(?:I|I'\w+|[Mm]e|[Mm]y|[Yy]ou|[Yy]our|[Yy]ours|[Yy]ou'\w+|[Yy]ourself|[Ll]et's)(?![\w'`/-])"
)
"""Somebody speaks to somebody: such a sentence means nothing to whoever was not there."""

FIRST_PERSON = re.compile(
    r"^(?:(?:so|and|then|also)[, ]+)?i(?:'ve| have)? (?=(?:also )?(?:added|introduced|created|removed|deleted|split"
    r"|pinned|extracted|restored|reverted|implemented|exported|registered|wired|kept|set|rewrote|disabled|enabled"
    r"|excluded|updated|changed|moved|renamed|fixed|switched|replaced|converted|rebased|put|dropped|left|verified"
    r"|confirmed)\b)",
    re.I,
)
