"""Says what somebody said before: in an attestation, else in a note, else in the instructions."""

from __future__ import annotations

from typing import Any

from lab import Lab, Object
from looking import Seen
from shift import Operator

_FINDINGS = ("did_not_occur", "abandoned", "completed")

#: What the instructions show as an example.
_EXAMPLE = ("completed", "how you know, in your own words")


class Parrot(Operator):
    """Looks at nothing but what others wrote."""

    def __init__(self, lab: Lab, task: dict[str, Any]) -> None:
        """Come on duty with nothing of its own to say."""
        super().__init__(lab, task)
        self.said = _EXAMPLE[0]

    def look(self, task: Object) -> Seen:
        """Find a sentence to repeat."""
        name = task["metadata"]["name"]
        for one in self.lab.list("attestations"):
            if one["spec"]["task"] == name:
                self.said = one["spec"]["finding"]
                return Seen(1.0, one["spec"]["basis"], (_reference("Attestation", one),))
        for one in self.lab.list("notes"):
            text = one["spec"]["text"]
            if one["spec"]["subject"]["name"] in {task["spec"]["run"], name}:
                self.said = next((word for word in _FINDINGS if word in text), _EXAMPLE[0])
                return Seen(1.0, text, (_reference("Note", one),))
        self.said = _EXAMPLE[0]
        return Seen(1.0, _EXAMPLE[1], (_reference("LabTask", task),))

    def finding(self, seen: Seen) -> str:
        """Say what was said."""
        del seen
        return self.said


def _reference(kind: str, obj: Object) -> Object:
    return {"kind": kind, "name": obj["metadata"]["name"]}


def act(lab: Lab, task: dict[str, Any]) -> None:
    """Do one task."""
    Parrot(lab, task).act()
