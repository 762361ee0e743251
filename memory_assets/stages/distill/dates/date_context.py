"""Whether a sentence lets an expression be a day that somebody looks forward to, and which words of a text are its writer's.

Takes words, decides; knows no calendar.
"""

import re

from memory_assets.stages.distill.dates.date_forms import Form, is_clear_month, is_duration


def _any_of(words: str) -> str:
    """Returns the words, in which `_` stands for a blank, as alternatives of a pattern."""
    return "|".join(words.replace("'", "['’]").split()).replace("_", r"\s+")


_BLANKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(\w[\w-]*)>.*?</\1>|`[^`\n]*`|\bhttps?://\S+|(?<!\w)[\"“„][^\"“”„\n]{1,60}[\"”“]|(?<!\w)'[^'\n]{1,300}'(?!\w)",
    re.DOTALL,
)
_PASTED_LINE = re.compile(
    r"^(?:\s*>.*|\s{4,}\S.*|\t.*|\s*[+@|{}\[\"].*|---.*|\$ .*|(?:commit|Author:|Date:|From:|Sent:)\s.*"
    r"|.*\b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b.*|.*\d\d:\d\d:\d\d.*|.*\bat \w[\w.$]*\(.*"
    r"|Traceback.*|\s*File \".*)$",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"[!?;\n]|\.\s+(?=[A-ZÄÖÜ])|\.\s*$|\s[–—]\s")

_PAST = _any_of(
    """was were had did didn't happened yesterday ago since last_(?:week|month|year|night|time) broke failed merged shipped
    landed went saw got reported introduced created wrote said told stopped started worked deployed implemented
    finished completed fixed made took used_to ran found noticed came war waren hatte hatten gestern seit letzte[nrs]?
    wurde wurden"""
)
_FIRM_INTENT = _any_of("will must need remind deadline due have_to let'?s muss")
_INTENT = _any_of(
    """will need(?:s|ed)? must should have_to has_to going_to gonna let'?s plan(?:s|ned)? remind deadline due until till by
    want please todo before schedul\\w* expir\\w+ ends? starts? starting begins? freeze launch\\w* release\\w* ship
    demo meeting call review cut-?off go(?:es)?_live follow_up check target migrat\\w+ as_of sunset\\w*
    shut(?:s|ting)?_down retire[ds]? renew\\w* move[ds]?_to postpon\\w+ muss müssen wird werden soll sollen
    erinner\\w* bitte frist fällig bis spätestens läuft ab_dem termin am"""
)
_ASKING = _any_of(
    "did was were is are does do what why how when which who where has have had wann warum wie was wer hast hat ist"
)
_WRONG_BEFORE = _any_of(
    """not nicht never every each jede[nrs]? since seit last letzte[nr]? from until_now than like after within per for ago
    e\\.g\\. i\\.e\\. v version step phase sprint task page line port figure item option round screenshot screencast
    recording image photo"""
)
_WRONG_AFTER = _any_of("ago old earlier later_than commits? deploys?_are standups? release_notes")
_LASTING = _any_of(
    """tokens? cookies? jwts? ttl cache[ds]? retention sessions? default timeout rotat\\w+ older log_files? backups? lifetime
    window interval estimat\\w+ takes? took done doable possible built implemented finished weeks_of_work effort"""
)
_OFTEN = _any_of("every each weekly daily monthly usually always cron\\w* jede[nrs]? wöchentlich täglich")


def _word(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


_TOLD_OF_THE_PAST, _FIRM = _word(_PAST), _word(_FIRM_INTENT)
_OF_WHAT_COMES = re.compile(rf"\b(?:{_INTENT})\b|['’]ll\b", re.IGNORECASE)
_REPORTING_QUESTION = re.compile(rf"^\W*(?:{_ASKING})\b", re.IGNORECASE)
_NO_DAY = re.compile(rf"(?:\b(?:{_WRONG_BEFORE})|[=#$/@_~^*<-])\s*$", re.IGNORECASE)
_NO_DAY_AFTER = re.compile(rf"^(?:\s*(?:[=/%_]|\.\w)|['’]s\b|\s+(?:{_WRONG_AFTER})\b)", re.IGNORECASE)
_OURS = _word(_any_of("we i wir ich"))
_DURATION, _RECURRING = _word(_LASTING), _word(_OFTEN)


def without_pasted(text: str) -> str:
    """Returns the text with blanks for code, quotes, addresses and lines of logs; what stays keeps its place."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return _PASTED_LINE.sub(blank, _BLANKED.sub(blank, text))


def points_ahead(words: str, match: re.Match[str], form: Form) -> bool:
    """Returns whether the sentence around the expression lets it be a day that somebody looks forward to."""
    before, after = _sentence(words, match)
    sentence = f"{before}{match[0]}{after}"
    if _NO_DAY.search(before) or _NO_DAY_AFTER.search(after) or not is_clear_month(match):
        return False
    if _RECURRING.search(sentence) and not form.is_absolute:
        return False
    if _TOLD_OF_THE_PAST.search(f"{before} {after}") and not _FIRM.search(sentence):
        return False
    if after.rstrip().endswith("?") and _REPORTING_QUESTION.search(sentence):
        return False
    has_intent = bool(_OF_WHAT_COMES.search(sentence))
    if is_duration(form):
        is_lasting = _DURATION.search(sentence) and "remind" not in sentence.lower()
        return not is_lasting and (has_intent or bool(_OURS.search(sentence)))
    return has_intent or not form.needs_intent


def _sentence(words: str, match: re.Match[str]) -> tuple[str, str]:
    """Returns what stands before and after the match in its sentence, with the mark that ends it."""
    start = max((end.end() for end in _SENTENCE_END.finditer(words, 0, match.start())), default=0)
    end = _SENTENCE_END.search(words, match.end())
    return words[start : match.start()], words[match.end() : end.end() if end else len(words)]
