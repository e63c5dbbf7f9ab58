"""Terraform or OpenTofu as a typed engine: variables, one private stack, outcomes, a journal.

The room knows nothing of Kubernetes or of tasks; `bench` hands it a stack's name and values and
gets outputs and typed outcomes back.
"""

from __future__ import annotations
