"""The settings of sharing."""

from typing import Annotated

from pydantic import BaseModel

from memory_assets.schema import setting_types

Address = Annotated[
    str,
    setting_types.matching(
        r"[a-z]+://[^\s?#]+", "an address such as https://memory.example or ssh://desktop"
    ),
]


class SharingSettings(BaseModel):
    """What a shared memory allows, and what this machine pushes to one."""

    writes_per_minute: int = setting_types.setting(
        "Writes per minute of one token of a shared memory.", 30, ge=1, le=10_000
    )
    pushed_gb: float = setting_types.setting(
        "Gigabytes of transcripts that each person may push to this store; 0: no limit.",
        5.0,
        ge=0,
        allow_inf_nan=False,
    )
    push_url: Address = setting_types.setting(
        "Shared memory, or machine of yours (`ssh://…`), to which `memory data push` sends.", ""
    )
    push_ssh: str = setting_types.setting(
        "Command that reaches machines of yours, with options.", "ssh"
    )
    push_command: str = setting_types.setting(
        "How to run `memory` on them, such as /home/me/.local/bin/memory.", "memory"
    )
    push_token: str = setting_types.setting(
        "Token with the scope push for that server; better in MEMORY_PUSH_TOKEN.", "", repr=False
    )
    push_projects: setting_types.ProjectNames = setting_types.setting(
        "Projects that may be pushed; `*`: all, `!name`: not this one.",
        default_factory=lambda: [setting_types.ALL_PROJECTS],
    )
    reviewers: dict[str, setting_types.OtherNames] = setting_types.setting(
        "Project → persons who may decide its proposals with a token; `*`: every project.",
        default_factory=dict,
    )


def sharing(settings: object) -> SharingSettings:
    """Returns the settings, which have those of sharing."""
    assert isinstance(settings, SharingSettings)
    return settings
