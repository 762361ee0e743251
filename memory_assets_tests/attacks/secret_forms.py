"""Secrets as people and programs write them: sentences in many languages, commands, files, cookies, tokens of vendors.

Each line of `secret_forms.txt` is a name and a text with one secret between `«` and `»`, drawn at random. Nothing here is shared with the detector.
`secret_rule_sets.is_held_back` names the third of the forms that was first scored when masking was finished.
The rules were written with the forms of `configuration` at hand. `secret_families.txt` has
the forms of families that reach further: values piped, split, set by a call, or known by what stands behind them.
"""

from pathlib import Path
from random import Random

from memory_assets_tests.stages.capture.vendor_formats import draw_template, read_sections

SECTIONS = read_sections(Path(__file__).with_suffix(".txt"))
FAMILIES = read_sections(Path(__file__).with_name("secret_families.txt"))


def configuration() -> dict[str, str]:
    """Returns the templates of the forms in configuration files, by name: aligned columns, short names, and the files and
    commands of Maven, web servers, proxies, SQL Server and curl.
    """
    return _by_name(SECTIONS["configuration"])


def forms() -> dict[str, str]:
    """Returns the templates of all other forms of everyday writing, by group and name."""
    return _by_group({group: SECTIONS[group] for group in SECTIONS if group != "configuration"})


def of_families() -> dict[str, str]:
    """Returns the templates of the forms of families, by family and name."""
    return _by_group(FAMILIES)


def _by_group(sections: dict[str, list[str]]) -> dict[str, str]:
    return {
        f"{group}: {name}": template
        for group, lines in sections.items()
        for name, template in _by_name(lines).items()
    }


def _by_name(lines: list[str]) -> dict[str, str]:
    rows = (line.split("|", 1) for line in lines)
    return {name: template.replace("\\|", "|") for name, template in rows}


def draw_form(form: str, random: Random) -> tuple[str, str]:
    """Returns a text of the form, and the secret in it."""
    return draw_template((forms() | configuration() | of_families())[form], random)
