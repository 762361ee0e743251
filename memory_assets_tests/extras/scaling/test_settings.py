"""Addresses have the form that their server needs."""

import pytest

from memory_assets.errors import SettingsError
from memory_assets.store.settings import read_settings


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000",
        "http://127.0.0.1:8000/api",
        "http://user:word@127.0.0.1:8000",
        "ftp://chroma",
    ],
)
def test_a_chroma_server_is_an_address_without_path_and_password(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_CHROMA", address)
    with pytest.raises(SettingsError, match=r"use the form http://127\.0\.0\.1:8000"):
        read_settings()
