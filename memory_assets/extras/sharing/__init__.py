"""Sharing: people and agents ask one store over HTTP with tokens; machines push sessions."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="sharing",
    commands={"data": "cli:data", "serve": "cli:serve"},
    answers="cli:answer_types",
    settings="settings:SharingSettings",
    incoming="passed_on:waiting_names",
    before_capture="passed_on:finish_passed_on",
    copied_to="push_record:servers_pushed_to",
    server_options="cli:SharedOptions",
    client="remote_memory:RemoteMemory",
)
