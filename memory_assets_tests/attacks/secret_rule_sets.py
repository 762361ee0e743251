"""Secrets as the maintained rule sets of secret scanners describe them: name, alphabet and length, drawn at random.

Those under `shaped` have a shape of their own and stand anywhere; those under `named` are recognised by the vendor's name before them, in the ways in
which configuration files and programming languages assign a value (`ASSIGNMENTS`). The facts are those of gitleaks' rules and
of the vendors' documents. Nothing here is shared with the detector.

`is_held_back` names a third of the forms by the hash of their names: they were first scored when masking was
finished. Whoever wrote the rules knew the formats, so the third is no independent sample.
"""

import hashlib
from pathlib import Path
from random import Random

from memory_assets_tests.stages.capture.vendor_formats import draw_template, read_sections

SECTIONS = read_sections(Path(__file__).with_suffix(".txt"))

ASSIGNMENTS = (
    '{i}Token="{s}"', '{i}Token = "{s}"', "{i}Token={s}", "{i}Token = {s}", '{\n    "{i}_token": "{s}"\n}',
    '\\{\n    \\"{i}_token\\": \\"{s}\\"\n\\}', "<{i}Token>{s}</{i}Token>", "<{i}Token>\n    {s}\n</{i}Token>", "{i}_token: {s}",
    "{i}_token: '{s}'", '{i}_token: "{s}"', "{i}_token: |\n  {s}", "{i}_token: >\n  {s}", 'string {i}Token = "{s}";',
    'var {i}Token string = "{s}"', '{i}Token := "{s}"', "{i}Token := `{s}`", 'String {i}Token = "{s}";', 'var {i}Token = "{s}"',
    '${i}Token .= "{s}"', "{i}Token = '{s}'", "{i}Token,{s},", '  "{i}Token" => "{s}"', '{i}_TOKEN = "{s}"', '{i}_TOKEN := "{s}"',
    '{i}_TOKEN ::= "{s}"', '{i}_TOKEN :::= "{s}"', '{i}_TOKEN ?= "{s}"', '{i}_TOKEN += "{s}"', '{i}_api_token = "{s}"',
)  # fmt: skip
"""How the tests of the rule set assign the secret `{s}` of the vendor `{i}`."""


def shaped() -> dict[str, str]:
    """Returns the templates of the secrets that have a shape of their own, by rule; where only a part of a template is
    secret, that part stands between `«` and `»`.
    """
    return dict(line.split("|", 1) for line in SECTIONS["shaped"])


def named() -> dict[str, tuple[str, str]]:
    """Returns the vendor's name and the template of the secret, by rule."""
    rows = (line.split("|", 2) for line in SECTIONS["named"])
    return {rule: (vendor, secret) for rule, vendor, secret in rows}


def rules() -> list[str]:
    """Returns the names of all rules."""
    return [*shaped(), *named()]


def is_held_back(rule: str) -> bool:
    """Returns whether the rule belongs to the third that masking was first scored on when it was finished."""
    return hashlib.sha256(rule.encode()).digest()[0] % 3 == 0


def draw_example(rule: str, random: Random) -> tuple[str, str]:
    """Returns an example of the rule, and the part of it that nobody may read afterwards."""
    if rule in shaped():
        text, secret = draw_template(shaped()[rule], random)
        return random.choice(("{}", "it printed {} and went on", "value: {}", "KEY={}")).replace(
            "{}", text
        ), secret
    vendor, template = named()[rule]
    secret, _ = draw_template(template, random)
    assignment = random.choice(ASSIGNMENTS)
    shown = vendor.upper() if "_TOKEN" in assignment else vendor
    return assignment.replace("{i}", shown).replace("{s}", secret), secret
