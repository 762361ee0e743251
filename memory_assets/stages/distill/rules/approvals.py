"""Finds the proposals that the owner approved: an option picked by its label, or a single proposal answered with a plain yes.

Takes the owner's words and the assistant's message before them; returns the proposals in its words. A label picks an option
only if the message offered options with labels of that form, once, and the answer is nothing but the pick. A plain yes approves
a proposal only if the message made exactly one. One-off tasks (commit, push, fix this) are not decisions.
"""

import re

from memory_assets.stages.distill.rules.exchanges import AssistantReply
from memory_assets.stages.distill.rules.grammar import is_clear, strip_opening
from memory_assets.text.sentences import plain, split_sentences

_PICK = re.compile(
    r"(?i)^(?:(?:yes|ok(?:ay)?|please|let's)[, ]+)*(?:(?:go with|do|take|use) )?(?:option )?"
    r"(?P<labels>[\da-h](?:(?:,? and |, ?)[\da-h])*)[,.)]*(?: please)?[.!]*$"
)
_YES = re.compile(
    r"(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|sure|agreed|sounds good|go ahead|(?:let's )?do (?:it|that)|please(?: do)?)[,.! ]*)+$"
)
_LABEL = r"[\s>*-]*(?:option )?[(]?(?P<label>\d|[A-H])[.):]+"
_OPTION = re.compile(rf"(?im)^{_LABEL}\s*(?P<text>\S.*(?:\n(?![ \t]*$|{_LABEL.replace('?P<label>', '?:')}).+)*)")
_PROPOSES = re.compile(
    r"(?i)^(?:i(?:'d| would)? (?:recommend|suggest|propose)|my (?:recommendation|suggestion|proposal) is|should (?:i|we)"
    r"|shall (?:i|we)|(?:do you )?want me|would you like me)(?: to| that we| we)?:? (?=\S)"
)
_ONE_OFF = re.compile(r"(?i)^(?:commit|push|merge|open|run|fix|check|look|review|test|wait|stop|continue|proceed|skip)\b")
_STANDING = re.compile(r"(?i)(?:us|keep|switch|mov|adopt|replac|dropp?|stor|pinn?|go|stick|stay)(?:e|ing)?\b")
"""What holds after the session; other proposals are errands."""


def find_approved(said: str, before: AssistantReply) -> list[tuple[str, str]]:
    """Returns the approved proposals: as a fact with the owner's answer behind it, and in the assistant's words."""
    if pick := _PICK.match(said):
        options = _options(before.message["text"])
        found = [options.get(label, "") for label in re.findall(r"\b[\dA-H]\b", pick["labels"].upper())]
    else:
        proposals = [sentence for part in before.sentences if _PROPOSES.match(sentence := strip_opening(part.text))]
        bare = _PROPOSES.sub("", proposals[0]).rstrip("?") if len(proposals) == 1 and _YES.match(said) else ""
        found = [bare] if _STANDING.match(bare) else []
    kept = [words for words in found if is_clear(words) and not _ONE_OFF.match(words)]
    return [(f"{words[:1].upper()}{words[1:].rstrip('.')} (approved by the owner: “{said}”).", words) for words in kept]


def _options(text: str) -> dict[str, str]:
    """Returns the first sentence of each option by its label; empty unless the message asks for a choice of one list."""
    found = [(one["label"].upper(), plain(" ".join(one["text"].split()))) for one in _OPTION.finditer(text.replace("**", ""))]
    labels = "".join(label for label, _ in found)
    is_offer = (
        len(labels) > 1 and "12345678ABCDEFGH".find(labels) in (0, 8) and re.search(r"\?|(?i:\b(?:options|recommend)\b)", text)
    )
    return {label: split_sentences(option)[0] for label, option in found} if is_offer else {}
