"""The JSON Schema of report.json, generated from the model that writes it.

It owns the schema's place in the documentation; the model owns its content. `python -m
harness.report.schema` writes it again, and a test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.files import readable_json, write_atomic
from harness.model.results import RunReport

#: Where the schema is kept, from the root of the project.
SCHEMA_PATH = Path("docs/reference/report.schema.json")

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json. Pure."""
    return {"$schema": _DIALECT, **RunReport.model_json_schema(mode="serialization")}


def schema_bytes() -> bytes:
    """Return the schema as it is kept. Pure."""
    return readable_json(report_schema())


if __name__ == "__main__":
    write_atomic(SCHEMA_PATH, schema_bytes())
