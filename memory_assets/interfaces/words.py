"""Reads the options that every command accepts, in front of it or behind it."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


def split_store(words: "Sequence[str]") -> "tuple[list[str], str | None]":
    """Returns the words without `--store FOLDER`, and the folder."""
    return split_option(words, "--store")


def split_option(words: "Sequence[str]", option: str) -> "tuple[list[str], str | None]":
    """Returns the words without the option and its value, and the value.

    The value is None without the option, and empty where the option has none. Words behind `--` are
    arguments.
    """
    end = words.index("--") if "--" in words else len(words)
    for index, word in enumerate(words[:end]):
        if word.startswith(f"{option}="):
            return [*words[:index], *words[index + 1 :]], word.removeprefix(f"{option}=")
        if word == option:
            value = words[index + 1] if index + 1 < end else ""
            value = "" if value.startswith("-") else value
            return [*words[:index], *words[index + 2 :]], value
    return list(words), None


def split_debug(words: "Sequence[str]") -> "tuple[list[str], bool]":
    """Returns the words without `--debug`, and whether it was among them.

    Words behind `--` are arguments.
    """
    end = list(words).index("--") if "--" in words else len(words)
    options = [word for word in words[:end] if word != "--debug"]
    return [*options, *words[end:]], len(options) < end
