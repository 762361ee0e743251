"""The words of a command line: options that every command takes, in front of it or behind it."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


def split_store(words: "Sequence[str]") -> "tuple[list[str], str | None]":
    """Returns the words without `--store FOLDER`, which binds any command to one store, and the
    folder.

    None where the option is not given, empty where its folder is missing. Words behind `--` are
    arguments.
    """
    end = words.index("--") if "--" in words else len(words)
    for at, word in enumerate(words[:end]):
        if word.startswith("--store="):
            return [*words[:at], *words[at + 1 :]], word.removeprefix("--store=")
        if word == "--store":
            folder = words[at + 1] if at + 1 < end else ""
            return [*words[:at], *words[at + 2 :]], "" if folder.startswith("-") else folder
    return list(words), None


def split_debug(words: "Sequence[str]") -> "tuple[list[str], bool]":
    """Returns the words without `--debug`, and whether it was among them. Words behind `--` are
    arguments.
    """
    end = list(words).index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word != "--debug"]
    return [*options, *words[end:]], len(options) < end
