"""One profile for every property: none fails because the machine was busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

#: Examples of a property in one run; each run draws others.
_EXAMPLES = 50

# A deadline and the check for slow data measure the machine; pytest's own time-out bounds a test.
settings.register_profile(
    "unit",
    max_examples=_EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unit")
