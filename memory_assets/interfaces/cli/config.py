"""`memory config`: shows the settings, and sets or removes one in the user's file."""

from typing import Annotated, Any

import typer

from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.views.config import (
    render_changed,
    render_setting,
    render_settings,
)
from memory_assets.interfaces.views.terminal import Reply

RUN_AGAIN = (
    "`memory ingest` rebuilds what depends on it; a `memory up` that runs must be started again."
)


class ConfigGroup(commands.Group):
    """A group whose first word may also be a setting: `memory config model` means `memory config
    show model`.
    """

    usual = "show"
    """The command that is meant where the first word names none."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the words name."""
        words = args if args[0] in self.commands else [self.usual, *args]
        return super().resolve_command(ctx, words)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Returns the commands and the settings that begin with the incomplete word."""
        setting = self.commands[self.usual].params[0]
        names = [] if incomplete.startswith("-") else setting.shell_complete(ctx, incomplete)
        return [*super().shell_complete(ctx, incomplete), *names]


app = commands.Commands()
config_app = commands.group(
    "Show the settings and where each value comes from; change one.",
    cls=ConfigGroup,
    no_args_is_help=False,
)
app.add_typer(config_app, name="config", rich_help_panel=commands.SET_UP)
NameOrEntry = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A setting; NAME.KEY: one entry of a table.",
        autocompletion=commands.completing(kind="setting"),
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A setting, such as port.",
        autocompletion=commands.completing(kind="setting"),
    ),
]


@config_app.callback(invoke_without_command=True, epilog="Example: `memory config least_useful`")
def config(
    context: typer.Context,
    as_json: commands.Json = False,
) -> Reply | None:
    """Show the settings and where each value comes from; change one. `memory config NAME` shows one
    setting.
    """
    if context.invoked_subcommand:
        return None
    from memory_assets.memory.settings import read_configuration

    settings = read_configuration()
    following = (
        "`memory config NAME` describes a setting; `memory config set NAME VALUE` changes it."
    )
    return Reply({"settings": settings}, render_settings(settings), next_step=following)


@config_app.command("show", epilog="Example: `memory config show least_useful`")
def config_show(name: Name) -> Reply:
    """Show one setting: its meaning, value, default and origin, and how to change it."""
    from memory_assets.memory.settings import read_configuration

    (setting,) = read_configuration(name)
    following = f"`memory config set {setting.name} VALUE` writes it into your file."
    return Reply({"settings": [setting]}, render_setting(setting), next_step=following)


@config_app.command("set", epilog="Example: `memory config set least_useful 0.6`")
def config_set(
    name: NameOrEntry,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Its value; a list as a,b or in TOML.")
    ],
) -> Reply:
    """Write a setting into your file, which holds for every store; the value is checked first."""
    from memory_assets.memory.settings import set_setting

    return commands.view_reply(render_changed, set_setting(name, value), next_step=RUN_AGAIN)


@config_app.command("unset", epilog="Example: `memory config unset least_useful`")
def config_unset(name: NameOrEntry) -> Reply:
    """Remove a setting from your file, so that its default or the store's file holds again."""
    from memory_assets.memory.settings import unset_setting

    return commands.view_reply(render_changed, unset_setting(name), next_step=RUN_AGAIN)


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.interfaces.json_schema import fields
    from memory_assets.memory.settings import ChangedSetting, Setting

    settings = fields(settings=list[Setting])
    return {
        "config": settings,
        "config show": settings,
        "config set": ChangedSetting,
        "config unset": ChangedSetting,
    }
