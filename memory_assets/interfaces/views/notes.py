"""Draws what was remembered, corrected and forgotten, and where something stopped, on the console that it is given."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.common import Draw
from memory_assets.stages.distill.rows import short_id

if TYPE_CHECKING:
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.notes import Noted
    from memory_assets.services.why_not import WhyNot


def draw_noted(noted: "Noted") -> Draw:
    """Draws the one line that was written."""

    def draw(console: Console) -> None:
        if noted.kind == "feedback":
            helped = "helped" if noted.is_used else "did not help"
            console.print(Text(f"Noted that {', '.join(map(short_id, noted.memory_ids))} {helped}."))
            return
        console.print(Text(noted.memory_id, style="bold") + Text(f" {noted.text}"))
        replaced = f"; it replaces {short_id(noted.replaces)}" if noted.replaces else ""
        place = noted.project or "everywhere"
        console.print(Text(f"   {noted.category}, {noted.priority}, {place}{replaced}", style="dim"))

    return draw


def draw_forgetting(found: "Forgetting") -> Draw:
    """Draws what carries what is to be forgotten, and what became of it."""

    def draw(console: Console) -> None:
        for one in found.memories:
            console.print(Text(short_id(one.memory_id), style="bold") + Text(f" {one.text}"))
            console.print(Text(f"   {one.state}, {one.project or 'everywhere'}", style="dim"))
        behind = (f"{found.observation_count:,} observations", f"{len(found.message_ids):,} messages")
        console.print(Text(f"Made of {', '.join(behind)} and {len(found.segment_ids):,} segments."))
        for place in found.found.places:
            times, files = (
                _counted(place.count, "time"),
                _counted(place.files, "object" if place.kind.startswith("git") else "file"),
            )
            console.print(Text(f"   {place.kind}: {times} in {files}"))
        if found.entry_lines:
            console.print(Text(f"   {', '.join(found.entry_lines)}"))
        if found.branches:
            console.print(Text(f"   what-ifs, all of which go: {', '.join(found.branches)}"))
        if found.proof is None:
            console.print(Text("Nothing was changed; --apply erases it everywhere, for good.", style="dim"))
            return
        looked = ", ".join(f"{kind} {count:,}" for kind, count in found.proof.looked_at.items())
        console.print(Text(f"Erased. Searched once more, every file decoded: {looked}."))
        console.print(Text("Nothing carries it any more." if found.is_gone else "It is still there.", style="bold"))
        if found.is_gone:
            console.print(Text("The next run makes anew what was made of it, without it.", style="dim"))

    return draw


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def draw_why_not(found: "WhyNot") -> Draw:
    """Draws where it stopped, why, and what was found of it."""

    def draw(console: Console) -> None:
        console.print(Text(found.stage, style="bold") + Text(f": {found.because}"))
        name = f"{short_id(found.memory_id)} " if found.memory_id else ""
        if found.says:
            console.print(Text(f"   {name}{found.says}"))
        if found.merged_into:
            console.print(Text(f"   merged with what is worded now: {found.merged_into}"))
        if found.score is not None or found.last_in is not None:
            scores = [
                f"{label} {score:.3f}" for label, score in (("its score", found.score), ("last in", found.last_in)) if score
            ]
            console.print(Text(f"   {', '.join(scores)}", style="dim"))
        if found.path:
            lines = f", records {', '.join(map(str, found.lines))}" if found.lines else ""
            console.print(Text(f"   session {found.session or '-'}, {found.path}{lines}", style="dim"))

    return draw
