"""Languages are told apart by small words or script; a text without enough of them has none."""

import pytest

from memory_assets.english.languages import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The worker reads from Redis and is restarted at night", "en"),
        ("Der Dienst liest aus Redis und wird nachts nicht neu gestartet", "de"),
        ("Le service est relancé par le planificateur dans la nuit", "fr"),
        ("El servicio no se reinicia por la noche con los datos", "es"),
        ("Il servizio non riparte con gli altri di notte", "it"),
        ("De dienst wordt niet met het systeem gestart", "nl"),
        ("始终使用 uv 安装依赖", "cjk"),
        ("Всегда запускай `make lint` перед коммитом", "cyrillic"),
        ("`uv sync` → `uv.lock`", ""),
        ("Redis 6380", ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str):
    assert language_of(text) == language
