"""The CEL rules of the definitions, said again by their texts.

A rule that is not known is an error, so none can be added or changed there without being met here;
a test tells of one that is said here and stands nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.lab.lifecycle import RUN, TASK, Machine, allowed

#: Old value, None where there is none, and new value: tells whether the rule holds.
Rule = Callable[[Any, Any], bool]

#: Beginning of the rules that are generated from the table of states.
_TRANSITION = "!has(oldSelf.status) || !has(oldSelf.status.state) || self.status.state =="
_INITIAL = (
    "(oldSelf.hasValue() && has(oldSelf.value().status) && has(oldSelf.value().status.state))"
)

_SAME = re.compile(r"self(?P<path>(\.\w+)*) == oldSelf(?P=path)")

_MACHINES: Mapping[str, Machine] = {"LabRun": RUN, "LabTask": TASK}


def rule_of(text: str, kind: str) -> Rule:
    """Return what a rule says.

    Raises:
        KeyError: Nobody has said this rule here.
    """
    if text.startswith(_TRANSITION):
        return _transition_of(_MACHINES[kind])
    if text.startswith(_INITIAL):
        return _initial_of(_MACHINES[kind])
    if same := _SAME.fullmatch(text):
        return _same_at(tuple(same["path"].split(".")[1:]))
    return RULES[text]


def _transition_of(machine: Machine) -> Rule:
    def holds(old: Any, new: Any) -> bool:
        before, after = _state(old), _state(new)
        return before is None or before == after or allowed(machine, before, after)

    return holds


def _initial_of(machine: Machine) -> Rule:
    def holds(old: Any, new: Any) -> bool:
        before, after = _state(old), _state(new)
        return before is not None or after is None or bool(after == machine.initial)

    return holds


def _same_at(path: tuple[str, ...]) -> Rule:
    def at(value: Any) -> Any:
        for name in path:
            value = value.get(name)
        return value

    return lambda old, new: old is None or at(old) == at(new)


def _stamped(flag: str, stamp: str) -> Rule:
    def holds(old: Any, new: Any) -> bool:
        if old is None:
            return True
        same = new[flag] == old[flag]
        return bool(new[stamp] == old[stamp] if same else new[stamp] != "")

    return holds


def _state(obj: Any) -> Any:
    return obj.get("status", {}).get("state") if obj is not None else None


def _accepted(obj: Any) -> Any:
    return obj.get("status", {}).get("accepted") if obj is not None else None


def _is_untouched(_: Any, new: Any) -> bool:
    counted = new["cancelRequested"] or new["resumeCount"]
    return not (counted or new["cancelRequestedBy"] or new["resumedBy"])


#: Text of a rule to the same rule. Those of the form `self.x == oldSelf.x` need no entry.
RULES: Mapping[str, Rule] = {
    "!has(oldSelf.status) || has(self.status)": (
        lambda old, new: old is None or "status" not in old or "status" in new
    ),
    "!has(oldSelf.status) || !has(oldSelf.status.accepted) || (has(self.status) && "
    "has(self.status.accepted) && self.status.accepted == oldSelf.status.accepted)": (
        lambda old, new: _accepted(old) is None or _accepted(old) == _accepted(new)
    ),
    "self.decision != 'granted' || has(self.expiresAt)": (
        lambda _, new: new["decision"] != "granted" or "expiresAt" in new
    ),
    "self.retrySafety != 'not_repeatable' || self.maxRetries == 0": (
        lambda _, new: new["retrySafety"] != "not_repeatable" or new["maxRetries"] == 0
    ),
    "self >= oldSelf": lambda old, new: old is None or new >= old,
    "!oldSelf.cancelRequested || self.cancelRequested": (
        lambda old, new: old is None or not old["cancelRequested"] or new["cancelRequested"]
    ),
    "self.cancelRequested == oldSelf.cancelRequested ? self.cancelRequestedBy == "
    "oldSelf.cancelRequestedBy : self.cancelRequestedBy != ''": _stamped(
        "cancelRequested", "cancelRequestedBy"
    ),
    "self.resumeCount == oldSelf.resumeCount || self.resumeCount == oldSelf.resumeCount + 1": (
        lambda old, new: old is None or new["resumeCount"] - old["resumeCount"] in (0, 1)
    ),
    "self.resumeCount == oldSelf.resumeCount ? self.resumedBy == oldSelf.resumedBy : "
    "self.resumedBy != ''": _stamped("resumeCount", "resumedBy"),
    "oldSelf.hasValue() || (!self.cancelRequested && self.resumeCount == 0 && "
    "self.cancelRequestedBy == '' && self.resumedBy == '')": (
        lambda old, new: old is not None or _is_untouched(old, new)
    ),
}
