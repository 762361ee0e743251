"""Reads the options that every command accepts, in front of it or behind it."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


def split_store(words: "Sequence[str]") -> "tuple[list[str], str | None]":
    """Returns the words without `--store FOLDER`, and the folder.

    The folder is None without the option, and empty where the option has no value. Words behind
    `--` are arguments.
    """
    end = words.index("--") if "--" in words else len(words)
    for index, word in enumerate(words[:end]):
        if word.startswith("--store="):
            return [*words[:index], *words[index + 1 :]], word.removeprefix("--store=")
        if word == "--store":
            value = words[index + 1] if index + 1 < end else ""
            folder = "" if value.startswith("-") else value
            return [*words[:index], *words[index + 2 :]], folder
    return list(words), None


def split_debug(words: "Sequence[str]") -> "tuple[list[str], bool]":
    """Returns the words without `--debug`, and whether it was among them.

    Words behind `--` are arguments.
    """
    end = list(words).index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word != "--debug"]
    return [*options, *words[end:]], len(options) < end
