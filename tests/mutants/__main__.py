"""`python -m tests.mutants`: print how many wrong graders the cases tell apart, and which not."""

from __future__ import annotations

import sys
from collections import Counter

from tests.mutants.hunt import all_mutants, survivors
from tests.unit.grading.test_cases import CASES


def main() -> int:
    """Print the kill rate by module and way; return 1 when one survived."""
    found = list(all_mutants())
    left = survivors(CASES, found)
    for title, key in (("way", "way"), ("module", "module")):
        total = Counter(getattr(mutant, key) for mutant in found)
        alive = Counter(getattr(mutant, key) for mutant in left)
        for name, number in sorted(total.items()):
            print(f"{title:8}{name:20}{number - alive[name]:5} of {number} killed")  # noqa: T201 - a command
    for mutant in left:
        print(f"survived {mutant}")  # noqa: T201 - a command
    print(f"killed {len(found) - len(left)} of {len(found)}")  # noqa: T201 - a command
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
