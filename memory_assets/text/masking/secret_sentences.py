"""Finds secrets that people write into sentences and tables: "the password for staging is …".

This works in the languages of `_PASSWORD_WORDS`, whatever the grammar. A word for a secret is
looked for. Then the next words of the line are tried, until one is no word of a language: letters
of both cases, digits and signs in random order. A value beside a word for a token, or far from a
word for a password, has to look more random than one that is assigned to a name
(`secret_assignments`).
"""

import re
from collections.abc import Callable, Iterator, Sequence

from memory_assets.text.masking.secret_tokens import Finder, finder_of
from memory_assets.text.masking.secret_values import (
    is_file_or_host,
    is_placeholder,
    is_random,
    is_secret_value,
    is_varied,
    variety,
)
from memory_assets.text.masking.unwrap import PLAIN, Span
from memory_assets.text.patterns import byte_patterns_beside, texts_beside

_PASSWORD_WORDS = """
    password passwd passphrase passcode pw credentials? passwort kennwort zugangsdaten anmeldedaten
    mot.de.passe mdp identifiants contraseña contrasena clave credenciales parola.d'ordine parola
    senha palavra-passe wachtwoord hasło haslo пароль пароля паролем
    密码 密碼 口令 パスワード パスフレーズ 暗証番号 合言葉 認証情報 비밀번호 암호
    şifre şifresi sifre parolamız lösenord lösenordet adgangskode passord heslo salasana jelszó
    κωδικός
    """.split()
"""English; German; French, Spanish, Italian and Portuguese; Dutch, Polish, Russian, Chinese,
Japanese, Korean, Turkish. The last line has those of other languages."""

_TOKEN_WORDS = """
    token secret api.?keys? access.?key api-schlüssel schlüssel zugangsschlüssel clé.api clé.d'api
    clave.de.api clave.api chiave.api chave.da.api chave.de.api api-sleutel klucz.api ключ.api ключ
    密钥 密鑰 api.?キー アクセスキー トークン 토큰 anahtarı
    """.split()


def _any_case(word: str) -> str:
    """Returns the word for an expression over bytes, where only ASCII has cases."""
    return "".join(
        letter
        if letter.isascii()
        else f"(?:{letter}|{letter.upper()})"
        if letter.upper() != letter
        else letter
        for letter in word
    )


def _names(words: Sequence[str]) -> str:
    return "|".join(sorted(map(_any_case, words), key=len, reverse=True)).replace(".", "[ _-]")


def _word(words: Sequence[str]) -> re.Pattern[bytes]:
    """Returns the expression that matches any of the words.

    An ASCII letter beside it would make it another word; a letter of Chinese does not.
    """
    names = _names([word.replace(".?", "[ _-]?") for word in words]).replace(
        "[ _-]?[ _-]", "[ _-]?"
    )
    return re.compile(
        rf"(?<![A-Za-z0-9_./$-])(?:{names})(?:'s|en|et)?(?![A-Za-z0-9_/(]|\.[A-Za-z0-9_/])".encode(),
        re.IGNORECASE,
    )


_PASSWORD, _TOKEN = _word(_PASSWORD_WORDS), _word(_TOKEN_WORDS)
_RUN = re.compile(rb"[!#-~]{1,300}")
"""A word; a quotation mark ends it, also that of JSON around the text."""
_LINE = re.compile(rb"(?:[^\n\\]|\\(?![nr])){0,160}")
"""The rest of the line, which may still be escaped."""
_WORDS_BETWEEN = 7
_QUOTES = b"\"'`*<>()[]{}|,;:\\"
_ASSIGNS = _QUOTES + b"="
"""Signs between a name and its value."""
_ENDS = (b".", b"!", b"?", b";")
_PASSWORD_SIGNS = re.compile(rb"[A-Za-z0-9!#$%^&*?~+=@._:-]{8,64}")
_TOKEN_SIGNS = re.compile(rb"[A-Za-z0-9+/_.=-]{20,400}")
_TEXTS = texts_beside(__file__)
_PATTERNS = byte_patterns_beside(__file__)
_NO_SECRET = _PATTERNS["no_secret"]
"""Numbers, hashes, versions, dates, addresses, options, and names of variables and types."""

_NUMBERED = re.compile(rb"[A-Za-z][0-9]{3,6}\Z")
"""A name with a number at its end may be a password."""


def _is_told_password(value: bytes) -> bool:
    """Returns whether a word of a sentence is a password.

    It has three or four kinds of characters, and is no name of anything.
    """
    if (
        not _PASSWORD_SIGNS.fullmatch(value)
        or _NO_SECRET.fullmatch(value)
        or is_placeholder(value)
        or is_file_or_host(value)
    ):
        return False
    return variety(value) >= 4 or (
        variety(value) == 3 and (re.search(rb"[0-9]", value) is not None) and is_random(value, 0.3)
    )


def _is_told_token(value: bytes) -> bool:
    """Returns whether a word of a sentence is a token: long, random, three kinds of characters."""
    if (
        not _TOKEN_SIGNS.fullmatch(value)
        or _NO_SECRET.fullmatch(value)
        or is_file_or_host(value)
        or b"://" in value
    ):
        return False
    return (
        variety(value) >= 3
        and b"/" not in value
        and is_secret_value(value, quoted=True, password=False)
    )


def _told(name: re.Pattern[bytes], is_secret: Callable[[bytes], bool]) -> Finder:
    """Returns the finder of the first secret among the next words of the line after a name."""

    def find(text: bytes) -> Iterator[Span]:
        for match in name.finditer(text):
            line = _LINE.match(text, match.end())
            for number, run in enumerate(_RUN.finditer(text, *line.span()) if line else ()):
                start, end = _bare(text, *run.span(), opening=_QUOTES if number else _ASSIGNS)
                is_linked = _is_linked(text, match, start, end, is_password=name is _PASSWORD)
                if is_linked or is_secret(text[start:end]):
                    yield start, end
                elif (
                    number < _WORDS_BETWEEN
                    and not (number and run[0].endswith(_ENDS))
                    and b"}" not in run[0]
                ):
                    continue
                break

    return find


def _is_linked(
    text: bytes, name: re.Match[bytes], start: int, end: int, *, is_password: bool
) -> bool:
    """Returns whether a verb or a sign between the name and the value says that this is it."""
    value = text[start:end]
    if not _PATTERNS["link"].fullmatch(text, name.end(), start):
        return False
    may_be_name = not is_password or _PATTERNS["particle"].search(text, name.end(), start)
    is_name = may_be_name and _NO_SECRET.fullmatch(value) and not _NUMBERED.search(value)
    return not is_name and is_secret_value(value, quoted=True, password=is_password)


def _bare(text: bytes, start: int, end: int, opening: bytes = _QUOTES) -> Span:
    """Returns the span without quotes, brackets and the end of the sentence.

    `opening` are the signs that are left out at its front.
    """
    word = text[start:end]
    left_count = len(word) - len(word.lstrip(opening))
    right_count = len(word) - len(word.rstrip(_QUOTES).rstrip(b".").rstrip(_QUOTES))
    return (
        (start + left_count, end - right_count)
        if left_count + right_count < len(word)
        else (start, end)
    )


def _find_before(text: bytes) -> Iterator[Span]:
    """Yields passwords whose name follows them: "log in with … as the password"."""
    for name in _PASSWORD.finditer(text):
        at = max(name.start() - 140, 0)
        match = _PATTERNS["before"].search(text[at : name.start()])
        if match:
            start, end = _bare(text, at + match.start(1), at + match.end(1))
            if _is_told_password(text[start:end]):
                yield start, end


_MOST_ROWS = 200


def _find_in_tables(text: bytes) -> Iterator[Span]:
    """Yields the values in columns of Markdown and CSV whose heading is the name of a secret."""
    for heading in _PATTERNS["heading"].finditer(text):
        sign = next((sign for sign in (b"|", b"\t", b";", b",") if sign in heading[1]), b"")
        if not sign:
            continue
        columns = [
            number
            for number, name in enumerate(heading[1].split(sign))
            if _PATTERNS["secret_column"].fullmatch(name)
        ]
        position = heading.end()
        for line in text[position : position + 40_000].split(b"\n")[:_MOST_ROWS]:
            cells = line.split(sign)
            if len(cells) <= max(columns, default=0):
                break
            for column in columns:
                start = position + sum(len(cell) + 1 for cell in cells[:column])
                begin, stop = _bare(text, *_trimmed(text, start, start + len(cells[column])))
                if is_secret_value(text[begin:stop], quoted=True, password=True):
                    yield begin, stop
            position += len(line) + 1


def _trimmed(text: bytes, start: int, end: int) -> Span:
    cell = text[start:end]
    return start + len(cell) - len(cell.lstrip()), end - (len(cell) - len(cell.rstrip()))


SENTENCES: tuple[Finder, ...] = (
    _told(_PASSWORD, _is_told_password),
    _told(_TOKEN, _is_told_token),
    _find_before,
    finder_of(bytes.isdigit, _PATTERNS["pin"]),
)
TABLES: tuple[Finder, ...] = (_find_in_tables,)


def _raw(word: str) -> str:
    """Returns the word as it is in the text for anchors.

    Letters beyond ASCII are there as stand-ins of their bytes (`unwrap.PLAIN`), or as escapes.
    """
    return "".join(letter if letter.isascii() else _raw_letter(letter) for letter in word)


def _raw_letter(letter: str) -> str:
    forms = {letter, letter.upper()[0]}
    plain = (re.escape(form.encode().translate(PLAIN).decode()) for form in sorted(forms))
    return (
        rf"(?:{'|'.join(plain)}|\\+u(?:{'|'.join(f'{ord(form):04x}' for form in sorted(forms))}))"
    )


def _anchor(words: Sequence[str]) -> str:
    return "|".join(map(_raw, words)).replace(".?", "[ _-]?").replace(".", "[ _-]")


_FOREIGN = [word for word in (*_PASSWORD_WORDS, *_TOKEN_WORDS) if not word.isascii()]
_PLAIN = [word for word in (*_PASSWORD_WORDS, *_TOKEN_WORDS) if word.isascii()]
_END = r"(?:'s|en|et)?(?:[^A-Za-z0-9_./(]|[.][^A-Za-z0-9_/]|[.]?$)"
SENTENCE_ANCHOR = rf"(?-u:\b)(?:PIN|(?i:{_anchor(_PLAIN)})){_END}|(?i:{_anchor(_FOREIGN)})"
TABLE_ANCHOR = _TEXTS["_table_anchor"]
_SIGNS = rb"[A-Za-z0-9!#$%^&*?~+=@._:/-]"
_CANDIDATE = re.compile(
    rb"(?<!%(s)b)(?=%(s)b{0,60}?[0-9])(?=%(s)b{0,60}?[A-Z!#$%%^&*?~+=@])%(s)b{8,400}"
    % {b"s": _SIGNS}
)


def may_be_told(text: bytes, start: int, end: int) -> bool:
    """Returns whether a word of the line may be a secret; most lines that name one have none."""
    text_before = text[max(start - 100, 0) : start]
    after = text[end : end + 200]
    line = (
        text_before[max(text_before.rfind(b"\n"), text_before.rfind(b"\\n")) + 1 :]
        + after.partition(b"\n")[0].partition(b"\\n")[0]
    )
    return _may_be_linked(text, end) or any(
        _may_be_secret(candidate[0].strip(b".:*")) for candidate in _CANDIDATE.finditer(line)
    )


def _may_be_linked(text: bytes, end: int) -> bool:
    """Returns whether a verb or a sign leads from the name to a word with digits, or to a PIN."""
    has_sign = text[end - 1] >= 32 and not text[end - 1 : end].isalnum()
    link = _PATTERNS["raw_link"].match(text, end - has_sign, end + 200)
    value = link[1].rstrip(b".,;!)") if link else b""
    return value.isdigit() or is_varied(value) or is_random(value, 0.5)


def _may_be_secret(value: bytes) -> bool:
    """Returns whether the word is varied, and no name, or a name with a number at its end."""
    is_name = _NO_SECRET.fullmatch(value) is not None and not _NUMBERED.search(value)
    return variety(value) >= 3 and not is_name
