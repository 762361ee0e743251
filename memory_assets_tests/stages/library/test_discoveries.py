"""The text of a note: what is recalled of a page or a repository."""

from datetime import UTC, datetime

import pytest

from memory_assets.stages.library.discoveries import note_of

AT = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "description", "text", "told"),
    [
        ("Queues", "About queues.", "Queues\nA queue keeps order.", "Queues: About queues."),
        ("Queues", "", "Queues\nA queue keeps order.", "Queues: A queue keeps order."),
        (
            "Queues",
            "",
            "# Queues\n\nIt keeps order.\n\n## Use of C#\n\nRun it.",
            "Queues: It keeps order. Use of C# Run it.",
        ),
        ("Queues", "", "Queues", "Queues"),
        ("Queues", "", "", "Queues"),
    ],
)
def test_a_note_has_the_title_once_and_what_the_text_says(
    title: str, description: str, text: str, told: str
):
    note = note_of(title, description, text, "https://example.org/q", AT)
    assert note == f"{told} (read at https://example.org/q on 2026-03-02)"


def test_a_long_text_is_cut_behind_a_sentence():
    note = note_of("Queues", "", "A queue keeps order. " * 40, "https://example.org/q", AT)
    assert (
        note
        == f"Queues: {' '.join(['A queue keeps order.'] * 23)} (read at https://example.org/q on 2026-03-02)"
    )
