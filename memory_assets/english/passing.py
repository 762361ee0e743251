"""Words of the moment, and states that are over by next week: a pushed branch, a green build."""

import re

_MOMENT = re.compile(
    r"(?i)\b(?:(?:for|right) now|this (?:time|once)|just (?:this )?once|to(?:day|night|morrow)"
    r"|yesterday|immediately|yet|until (?:i|we)|at the moment|temporarily|again)\b"
)
_STATE = re.compile(
    r"(?i)\b(?:uncommitted|untracked|working tree|force-push\w*|fast-forward\w*|in progress"
    r"|awaiting|all green|0 issues|commits? (?:ahead|behind|past)|ready to (?:push|commit|merge)"
    r"|(?:pushed|committed|opened) (?:to|as|it|an?)"
    r"|(?:branch|commit|work|fix|it|pr|tag)s?(?: #\d+)? (?:is|are|has) (?:now )?"
    r"(?:pushed|clean|open|ready|up|advanced|moved)|(?:tests?|suites?|lint|all) pass\w*"
    r"|(?:is|are) (?:now )?green|now (?:works|fails|passes)"
    r"|still (?:nothing|fail\w*|broken|the same))\b"
    r"|^\W*(?:pushed|committed|merged|opened|rebased)\b[.:!]"
)


def is_of_the_moment(words: str) -> bool:
    """Returns whether the words are about this time only."""
    return _MOMENT.search(words) is not None


def is_passing_state(text: str) -> bool:
    """Returns whether the text reports how work stands at the moment."""
    return _STATE.search(text) is not None
