"""The structure of the package is measured as a reader would count it, and the rules observer stays small."""

from pathlib import Path

from memory_assets_tests.structure import FORMER_OBSERVER, count_alternatives, count_code, measure_observer


def test_the_rules_observer_has_at_most_half_the_lines_and_alternatives_of_the_former_one():
    assert all(2 * now <= former for now, former in zip(measure_observer(), FORMER_OBSERVER, strict=True))


def test_alternatives_are_branches_of_patterns_and_words_of_lists():
    assert count_alternatives(r"import re; A = re.compile(r'a|b(?:c|d)|[|]x|\|')") == 5
    assert count_alternatives("import re; A = re.compile('abc')") == 1
    assert count_alternatives("W = word_set('a b c'); X = ('d', 'e'); Y = {'f': 1}") == 6
    assert count_alternatives("V = 'x|y'; P = rf'{V}|z'") == 4
    assert count_alternatives('"""a | b"""\ndef f():\n    """c | d"""\n    return "no pattern"') == 0


def test_a_table_in_a_file_of_data_counts_like_code(tmp_path: Path):
    rules = tmp_path / "stages" / "distill" / "rules"
    rules.mkdir(parents=True)
    (rules / "cues.py").write_text("A = 'a|b'\n\n# a comment\nB = 1\n")
    (rules / "cues.toml").write_text("one\ntwo\nthree\n")
    (rules / "instructions.py").write_text("C = 'a|b|c'\n")
    assert measure_observer(tmp_path) == (5, 5)
    assert count_code("A = 'a|b'\n\n# a comment\nB = 1\n") == 2
