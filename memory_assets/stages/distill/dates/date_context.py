"""Decides from context whether a date expression is a day ahead, and blanks text that the writer did not write."""

import re

from memory_assets.stages.distill.dates.date_forms import Form, is_clear_month, is_duration


def _words(words: str, pattern: str = r"\b(?:{})\b") -> re.Pattern[str]:
    """Returns the pattern with the words as alternatives in place of `{}`; `_` in a word matches white space."""
    return re.compile(pattern.replace("{}", "|".join(words.replace("'", "['’]").split()).replace("_", r"\s+")), re.I)


_BLANKED = re.compile(
    r"(?s)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(\w[\w-]*)>.*?</\1>|`[^`\n]*`|\bhttps?://\S+|(?<!\w)[\"“„][^\"“”„\n]{1,60}[\"”“]"
    r"|(?<!\w)'[^'\n]{1,300}'(?!\w)"
)
_PASTED_LINE = re.compile(
    r"(?m)^(?:\s*>.*|\s{4,}\S.*|\t.*|\s*[+@|{}\[\"].*|---.*|\$ .*|(?:commit|Author:|Date:|From:|Sent:)\s.*|.*\b(?:INFO|WARN"
    r"|WARNING|ERROR|DEBUG|FATAL|TRACE)\b.*|.*\d\d:\d\d:\d\d.*|.*\bat \w[\w.$]*\(.*|Traceback.*|\s*File \".*)$"
)
_SENTENCE_END = re.compile(r"[!?;\n]|\.\s+(?=[A-ZÄÖÜ])|\.\s*$|\s[–—]\s")

_IN_THE_PAST = _words("""
    was were had did didn't happened yesterday ago since last_(?:week|month|year|night|time) broke failed merged shipped
    landed went saw got reported introduced created wrote said told stopped started worked deployed implemented finished
    completed fixed made took used_to ran found noticed came war waren hatte hatten gestern seit letzte[nrs]? wurde wurden""")
_FIRM = _words("will must need remind deadline due have_to let'?s muss")
_AHEAD = _words(
    """will need(?:s|ed)? must should have_to has_to going_to gonna let'?s plan(?:s|ned)? remind deadline due until till by
    want please todo before schedul\\w* expir\\w+ ends? starts? starting begins? freeze launch\\w* release\\w* ship demo
    meeting call review cut-?off go(?:es)?_live follow_up check target migrat\\w+ as_of sunset\\w* shut(?:s|ting)?_down
    retire[ds]? renew\\w* move[ds]?_to postpon\\w+ muss müssen wird werden soll sollen erinner\\w* bitte frist fällig bis
    spätestens läuft ab_dem termin am""",
    r"\b(?:{})\b|['’]ll\b",
)
_REPORTING_QUESTION = _words(
    "did was were is are does do what why how when which who where has have had wann warum wie was wer hast hat ist",
    r"^\W*(?:{})\b",
)
_NO_DAY = _words(
    """not nicht never every each jede[nrs]? since seit last letzte[nr]? from until_now than like after within per for ago
    e\\.g\\. i\\.e\\. v version step phase sprint task page line port figure item option round screenshot screencast
    recording image photo""",
    r"(?:\b(?:{})|[=#$/@_~^*<-])\s*$",
)
_NO_DAY_AFTER = _words(
    "ago old earlier later_than commits? deploys?_are standups? release_notes", r"^(?:\s*(?:[=/%_]|\.\w)|['’]s\b|\s+(?:{})\b)"
)
_DURATION = _words("""
    tokens? cookies? jwts? ttl cache[ds]? retention sessions? default timeout rotat\\w+ older log_files? backups? lifetime
    window interval estimat\\w+ takes? took done doable possible built implemented finished weeks_of_work effort""")
_OURS = _words("we i wir ich")
_RECURRING = _words("every each weekly daily monthly usually always cron\\w* jede[nrs]? wöchentlich täglich")


def without_pasted(text: str) -> str:
    """Returns the text with blanks for code, quotes, URLs and log lines; offsets stay the same."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return _PASTED_LINE.sub(blank, _BLANKED.sub(blank, text))


def points_ahead(words: str, match: re.Match[str], form: Form) -> bool:
    """Returns whether the sentence around the expression refers to a day ahead."""
    before, after = _sentence(words, match)
    sentence = f"{before}{match[0]}{after}"
    if _NO_DAY.search(before) or _NO_DAY_AFTER.search(after) or not is_clear_month(match):
        return False
    if _RECURRING.search(sentence) and not form.is_absolute:
        return False
    if _IN_THE_PAST.search(f"{before} {after}") and not _FIRM.search(sentence):
        return False
    if after.rstrip().endswith("?") and _REPORTING_QUESTION.search(sentence):
        return False
    has_intent = bool(_AHEAD.search(sentence))
    if is_duration(form):
        is_lasting = _DURATION.search(sentence) and "remind" not in sentence.lower()
        return not is_lasting and (has_intent or bool(_OURS.search(sentence)))
    return has_intent or not form.needs_intent


def _sentence(words: str, match: re.Match[str]) -> tuple[str, str]:
    """Returns the parts of the sentence before and after the match, with its final punctuation."""
    start = max((end.end() for end in _SENTENCE_END.finditer(words, 0, match.start())), default=0)
    end = _SENTENCE_END.search(words, match.end())
    return words[start : match.start()], words[match.end() : end.end() if end else len(words)]
