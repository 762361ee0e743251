"""A scripted model: a queue of answers, and a record of what it was asked."""

from collections.abc import Iterable

from memory_assets.protocols import ModelAnswer, ModelRequest


class ScriptedModel:
    """Gives the answers in order; the last one again and again."""

    name = "scripted-1"

    def __init__(self, *answers: str, stop_reasons: Iterable[str] = ()) -> None:
        self.answers = list(answers)
        self.stop_reasons = list(stop_reasons)
        self.asked: list[ModelRequest] = []

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the next answer."""
        self.asked.append(request)
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        stop = self.stop_reasons.pop(0) if self.stop_reasons else "end_turn"
        return ModelAnswer(text, self.name, len(request.material) // 4, len(text) // 4, stop)
