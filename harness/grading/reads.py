"""What an agent saw, as far as an audit log can tell: gets, covering lists, open watches.

It owns which read shows which object, and when; it refuses to know what should have been seen. The
log has the question and not the answer, so a read that was answered counts as seen. Checks call it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from harness.model.evidence import READ_VERBS, AuditRecord

#: A read of these shows the whole object.
_WHOLE = frozenset({"", "status"})

#: A resource version from which a watch begins with what is there already.
_FROM_NOW = frozenset({"", "0"})

#: One requirement of a field selector: `metadata.name=a`, `a==b`, `a!=b`.
_FIELD = re.compile(r"^([^=!]+)(==|=|!=)(.*)$")

#: One requirement of a label selector, in the order in which they are tried.
#: Source: k8s.io/apimachinery pkg/labels, the grammar of Parse.
_LABEL_SET = re.compile(r"^(\S+)\s+(in|notin)\s*\(([^()]*)\)$")
_LABEL_EQUAL = re.compile(r"^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$")
_LABEL_THERE = re.compile(r"^(!?)\s*([^\s=!()]+)$")

#: A comma that is not inside of the parentheses of a set.
_COMMA = re.compile(r",(?![^()]*\))")


def saw(
    records: Iterable[AuditRecord],
    resource: str,
    name: str | None,
    *,
    after: datetime | None = None,
    before: datetime | None = None,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    version: int | None = None,
    names: Collection[str] = (),
) -> bool:
    """Tell whether a read shows an object as it was at a time in [after, before]. Pure.

    Args:
        records: Requests of one user.
        resource: Plural, for example `labtasks`.
        name: Name of the object; None for any of the kind.
        after: When it came to be what was to be seen; None for always.
        before: By when it had to be asked for; None for whenever.
        namespace: Where it lies; None for wherever the request went.
        labels: Its labels, for lists that select by them.
        version: Its resource version when it came to be that; a watch that was opened later shows
            it when it begins before this version.
        names: Names of the kind's objects, for lists that ask for a few: those come in order.
    """
    return any(
        _of(record, resource, namespace)
        and _in_time(record, after, before, version)
        and (name is None or _covers(record, name, labels or {}, names))
        for record in records
    )


def _of(record: AuditRecord, resource: str, namespace: str | None) -> bool:
    return (
        record.resource == resource
        and record.subresource in _WHOLE
        and record.verb in READ_VERBS
        and 200 <= record.code < 300
        # Without one it went to all of them.
        and (namespace is None or record.namespace in ("", namespace))
    )


def _in_time(
    record: AuditRecord, after: datetime | None, before: datetime | None, version: int | None
) -> bool:
    if before is not None and record.received_at >= before:
        return False
    if after is None or record.received_at >= after:
        return after is None or record.verb != "watch" or _shows_what_is(record, version)
    # Begun before: only a watch that was still open then tells of it.
    return record.verb == "watch" and (record.completed_at is None or record.completed_at > after)


def _shows_what_is(record: AuditRecord, version: int | None) -> bool:
    """Tell whether a watch begins early enough to tell of what came about before it was opened."""
    begins = record.selectors.get("resourceVersion", "")
    if begins in _FROM_NOW or record.selectors.get("sendInitialEvents", "").lower() == "true":
        return True
    return version is not None and begins.isdecimal() and int(begins) < version


def _covers(
    record: AuditRecord, name: str, labels: Mapping[str, str], names: Collection[str]
) -> bool:
    if record.verb == "get":
        return record.name == name
    chosen = record.selectors
    return (
        (not record.name or record.name == name)
        and _fields_cover(chosen.get("fieldSelector", ""), name, record.namespace)
        and labels_match(chosen.get("labelSelector", ""), labels)
        and (record.verb == "watch" or _page_covers(chosen, name, names))
    )


def _fields_cover(selector: str, name: str, namespace: str) -> bool:
    """Tell whether a field selector takes a name in; of other fields nobody knows the value."""
    known = {"metadata.name": name, "metadata.namespace": namespace}
    for requirement in filter(None, selector.split(",")):
        found = _FIELD.match(requirement.strip())
        if found is None or found[1] not in known:
            return False
        if (found[3] == known[found[1]]) is (found[2] == "!="):
            return False
    return True


def labels_match(selector: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a label selector takes these labels in; what it cannot read, it does not. Pure.

    Args:
        selector: As in a query: `a=b,c!=d,e in (f, g),!h`.
        labels: Those of an object.
    """
    wanted = (part.strip() for part in _COMMA.split(selector))
    return all(_label_matches(part, labels) for part in wanted if part)


def _label_matches(requirement: str, labels: Mapping[str, str]) -> bool:
    if found := _LABEL_SET.match(requirement):
        values = {value.strip() for value in found[3].split(",")}
        return (labels.get(found[1]) in values) is (found[2] == "in")
    if found := _LABEL_EQUAL.match(requirement):
        return (labels.get(found[1]) == found[3]) is (found[2] != "!=")
    if found := _LABEL_THERE.match(requirement):
        return (found[2] in labels) is (found[1] == "")
    return False


def _page_covers(chosen: Mapping[str, str], name: str, names: Collection[str]) -> bool:
    """Tell whether a page of a list has a name, by its place in the order of names.

    A page that goes on where another ended is taken for the rest: who turns pages reads on.
    """
    limit = chosen.get("limit", "")
    if not limit.isdecimal() or int(limit) == 0 or chosen.get("continue"):
        return True
    return sum(other < name for other in set(names)) < int(limit)
