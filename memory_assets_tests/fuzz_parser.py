"""Fuzzes the parser, guided by coverage: `python -m memory_assets_tests.fuzz_parser --runs 200000`.

Begins with the answers written by hand; stops at the first answer that makes the parser raise or invent, and leaves it beside.
"""

import argparse
import html
import inspect
import re
import sys
import tempfile
from pathlib import Path

from memory_assets.stages.distill.model import parser
from memory_assets.stages.distill.model.parser import UNESCAPES, encodable, parse_answer
from memory_assets_tests.stages.distill.answer_seeds import SEEDS

MODULES = (parser,)
PATHS = {"segments", "structured", "flat", "list", "raw", "empty"}
WHOLE_ESCAPE = re.compile(r"&(?:lt|gt|amp|quot|apos|#39|#x27);")
"""What is unescaped within a fact; `html.unescape` also takes escapes without their end."""


def check(raw: str) -> None:
    """Asserts what must hold of any answer at all."""
    answer = parse_answer(raw)
    assert answer.path in PATHS
    assert parse_answer(raw) == answer
    assert bool(answer.segments) or not answer.facts
    forms = [raw.replace("\x00", "").replace("\ufeff", "")]
    for _ in range(UNESCAPES + 1):
        forms.append(html.unescape(forms[-1]))
    whole = [WHOLE_ESCAPE.sub(lambda found: html.unescape(found[0]), form) for form in forms]
    marked = encodable("\n".join([*forms, *whole]))
    said = marked + "\n" + marked.replace("**", "")
    for fact in answer.facts:
        fact.text.encode()
        assert fact.text.strip() and (fact.confidence is None or 0 <= fact.confidence <= 1)
        assert fact.gate in (None, "allow", "hold", "discard")
        if answer.path != "structured":
            invented = [word for word in fact.text.replace("**", "").split() if word not in said]
            assert invented == [], "a word that the answer does not have"


def fuzz(runs: int, folder: Path) -> None:
    """Runs the fuzzer over seeds in the folder; never returns, as libFuzzer ends the process."""
    import atheris

    for number, seed in enumerate(SEEDS.values()):
        (folder / f"seed-{number:02d}").write_text(seed, encoding="utf-8")
    for module in MODULES:
        for function in vars(module).values():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                atheris.instrument_func(function)
    # A process begins with the peak memory of the one that started it, so a limit to its peak would judge that one.
    limits = ["-max_len=2000", "-rss_limit_mb=0", "-malloc_limit_mb=512"]
    atheris.Setup(
        [
            sys.argv[0],
            f"-runs={runs}",
            "-seed=1",
            *limits,
            "-print_final_stats=1",
            "-artifact_prefix=./",
            str(folder),
        ],
        lambda data: check(data.decode("utf-8", "replace")),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=100_000)
    with tempfile.TemporaryDirectory(prefix="fuzz-parser-") as corpus:
        fuzz(arguments.parse_args().runs, Path(corpus))
