"""The review in a terminal: one proposal at a time with its evidence, one key per decision.

A decision is in the ledger, and its line in its file, before the next proposal is shown. So an
interrupted review continues where it stopped. Proposals that somebody decides meanwhile elsewhere
(in REVIEW.md, in another terminal, or by a rule) are skipped. The last decision can be taken back.
The proposals of one project follow each other. When the review ends or is interrupted, triage runs
for all decisions; then the lines that changed are listed with their files and commits.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from memory_assets.errors import ReviewError
from memory_assets.interfaces.views.lines import bold
from memory_assets.interfaces.views.memories import render_conflicts
from memory_assets.interfaces.views.terminal import show
from memory_assets.memory import MemoryAgent
from memory_assets.schema.records import MEMORY_MD
from memory_assets.text.words import counted

if TYPE_CHECKING:
    from memory_assets.memory.verb_answers import Pending

APPROVE = "a"
REJECT = "r"
EDIT = "e"
SKIP = "s"
EVIDENCE = "v"
UNDO = "u"
QUIT = "q"
KEYS = "[a]pprove  [r]eject  [e]dit  [s]kip  all e[v]idence  [u]ndo  [q]uit"
PUT_BACK = "p"
LOST_KEYS = "[r]eject them (I deleted their lines)  [p]ut them back  any other key: decide later"
INTERRUPTS = ("\x03", "\x04", "")
"""What is read for ctrl-C, for ctrl-D, and where the terminal is gone."""

SHOWN_QUOTES = 2
"""Quotes that are shown with a proposal; the key `v` shows more."""

ALL_QUOTES = 50
QUOTE_CHARS = 280


def group_of(proposal: "Pending") -> str:
    """Returns the project whose file the line is for."""
    if proposal.path == MEMORY_MD:
        return "all projects"
    return proposal.project or proposal.path


@dataclass
class ReviewSession:
    """A person's review at a terminal."""

    agent: MemoryAgent
    console: Console
    read_key: Callable[[], str]
    read_line: Callable[[str, str], str]
    """Reads a line; takes the prompt, and the text to edit."""
    decided: list[str] = field(default_factory=list)
    """Ids of the proposals that were approved or rejected here, in order."""
    group: str = ""
    """The project that is asked about now."""

    def run(self) -> list[str]:
        """Asks about every pending proposal, and returns those that were decided or edited."""
        self.agent.apply_review_edits()
        first_commit = self.agent.last_commit()
        touched: list[str] = []
        skipped: set[str] = set()
        try:
            show(render_conflicts(self.agent.contradictions()), self.console)
            touched += self._ask_about_lost()
            pending = self._waiting(skipped)
            while pending:
                proposal = self._next(pending)
                is_decided = self._ask(proposal, len(pending))
                if is_decided is None:
                    break
                if is_decided:
                    touched.append(proposal.proposal_id)
                else:
                    skipped.add(proposal.proposal_id)
                pending = self._waiting(skipped)
        finally:
            if touched:
                self._show_decided(touched)
                self._show_changed(first_commit)
        if not touched and not skipped:
            is_waiting = bool(self.agent.pending())
            self._say("Nothing was decided." if is_waiting else "No proposal is pending.")
        return touched

    def _waiting(self, skipped: Collection[str]) -> "list[Pending]":
        return [item for item in self.agent.pending() if item.proposal_id not in skipped]

    def _ask_about_lost(self) -> tuple[str, ...]:
        """Asks whether proposals that vanished from REVIEW.md at once are rejected.

        Returns the rejected proposals.
        """
        lost = self.agent.lost()
        if not lost:
            return ()
        self.console.print(Rule(style="dim"))
        self._say(f"REVIEW.md lost {len(lost)} proposals at once: {', '.join(lost)}.")
        key = self._read_choice(LOST_KEYS)
        if key == REJECT:
            self.agent.reject(*lost, reason="struck from REVIEW.md", triage=False)
            return lost
        if key == PUT_BACK:
            self.agent.put_back()
        return ()

    def _next(self, pending: "list[Pending]") -> "Pending":
        """Returns the most useful proposal of the present project.

        Without any, begins the next project: prints its name, and returns its best proposal.
        """
        groups: dict[str, list[Pending]] = {}
        for proposal in pending:
            groups.setdefault(group_of(proposal), []).append(proposal)
        if self.group not in groups:
            self.group = next(iter(groups))
            count = counted(len(groups[self.group]), "proposal")
            self.console.print(Rule(f"{self.group}: {count}", style="bold"))
        return groups[self.group][0]

    def _show_changed(self, commit: str | None) -> None:
        """Prints the lines that this review changed, each with its file and commit."""
        changed = self.agent.changed_since(commit)
        for line in changed:
            mark, style = ("+", "green") if line.is_added else ("-", "red")
            self._say(f"{line.path}, line {line.line}, commit {line.commit}", "bold")
            self._say(f"{mark} {line.text}", style)
        if not changed:
            self._say("No line of MEMORY.md or of a project's file changed.")

    def _show_decided(self, touched: list[str]) -> None:
        self.console.print(Rule(style="dim"))
        for proposal in self.agent.run_triage(*dict.fromkeys(touched)):
            state = f"{proposal.proposal_id} {proposal.state}"
            show([bold(state, f" → {proposal.section}: {proposal.text}")], self.console)

    def _ask(self, proposal: "Pending", pending_count: int) -> bool | None:
        """Returns whether the proposal was decided or edited; None to end the review."""
        self._show(proposal, pending_count, SHOWN_QUOTES)
        while True:
            key = self._read_choice(KEYS)
            if key in (QUIT, *INTERRUPTS):
                return None
            if key in (SKIP, " "):
                return False
            if key == UNDO and self._undo():
                return True
            if key == EVIDENCE:
                self._show(proposal, pending_count, ALL_QUOTES)
                continue
            try:
                if self._decide(proposal, key):
                    return True
            except ReviewError as error:
                self._say(str(error), "yellow")

    def _decide(self, proposal: "Pending", key: str) -> bool:
        """Carries out the decision that the key means; returns whether it means one."""
        if key == APPROVE:
            self.agent.approve(proposal.proposal_id, triage=False)
        elif key == REJECT:
            self.agent.reject(proposal.proposal_id, triage=False)
        elif key == EDIT:
            return self._reword(proposal)
        else:
            return False
        self.decided.append(proposal.proposal_id)
        for change in self.agent.write_decided():
            self._say(change, "green")
        return True

    def _reword(self, proposal: "Pending") -> bool:
        """Asks for a new wording, and returns whether it was changed."""
        text = self.read_line("New wording: ", proposal.text).strip()
        if text in ("", proposal.text):
            return False
        self.agent.edit(proposal.proposal_id, text, triage=False)
        return True

    def _undo(self) -> bool:
        """Takes the last decision of this review back, and returns whether there was one."""
        if not self.decided:
            self._say("Nothing was decided in this review yet.", "yellow")
            return False
        last = self.decided.pop()
        self.agent.take_back(last)
        self._say(f"{last} is pending again.", "yellow")
        return True

    def _read_choice(self, choices: str) -> str:
        """Prints the choices and returns the key that was pressed."""
        self.console.print(Text(choices, style="bold"), end=" ")
        try:
            key = self.read_key().lower()
        except (KeyboardInterrupt, EOFError, OSError):  # OSError where the terminal is gone
            key = INTERRUPTS[0]
        self._say(key if key.isalpha() else "")
        return key

    def _show(self, proposal: "Pending", pending_count: int, most: int) -> None:
        what = "retire a line"
        if proposal.text:
            verb = "replace a line in" if proposal.entry else "add to"
            what = f"{verb} {proposal.path}, {proposal.section}"
        self.console.print(Rule(style="dim"))
        title = bold(f"{proposal.proposal_id}  {what}", f"   {pending_count} left", "dim")
        show([title], self.console)
        if proposal.entry:
            self._say(f"- {proposal.entry.removeprefix('- ')}", "red")
        if proposal.text:
            self._say(f"+ {proposal.text}", "green")
        until = f", expires {proposal.expires_at:%Y-%m-%d}" if proposal.expires_at else ""
        self._say(f"{proposal.reason}{until}", "dim")
        show(self._evidence(proposal.proposal_id, most), self.console)

    def _say(self, words: str, style: str = "") -> None:
        show([Text(words, style=style)], self.console)

    def _evidence(self, proposal_id: str, most: int) -> Iterator[Text]:
        """Yields each quote, then its place and whether the archived bytes still hold it."""
        records = self.agent.origin_of(proposal_id).records
        for record in records[:most]:
            facts = record.facts
            holds = facts["is_unchanged"] and facts["holds_quote"]
            quote = " ".join(facts["quote"].split())
            dots = "…" if len(quote) > QUOTE_CHARS else ""
            yield Text(f"  “{quote[:QUOTE_CHARS]}{dots}”")
            mark, style = ("✓", "dim") if holds else ("✗", "bold red")
            yield Text(f"    {mark} {facts['path']}:{facts['line']}", style=style)
        if len(records) > most:
            yield Text(f"  and {len(records) - most} more: press {EVIDENCE}", style="dim")
