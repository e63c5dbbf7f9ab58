"""`make bench`: measure everything in one run, side by side with the peers; print and keep it.

Owns the table of parts and what happens to a part that fails; refuses to know how anything is
measured. Called by a person; nothing depends on it.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from benchmarks import (
    assertions,
    gate_figures,
    grading,
    laboratory_figures,
    phases,
    runner,
    start,
    sweep_figures,
)
from benchmarks.figures import Part
from benchmarks.machine import describe_machine, read_load, read_versions
from benchmarks.result_file import RESULTS_DIR, Run, write_results
from benchmarks.table import table_lines
from benchmarks.workbench import Workbench, open_workbench
from harness.cli.main import EXIT_INTERRUPTED
from harness.cli.options import say_on_stderr
from harness.cli.run import EXIT_FAILED
from harness.core.interrupts import raise_interrupt
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import HarnessError

#: Part to what measures it, in the order of the table.
PARTS: Mapping[str, Callable[[Workbench], Part]] = {
    start.PART: start.measure,
    assertions.PART: assertions.measure,
    runner.PART: runner.measure,
    gate_figures.PART: gate_figures.measure,
    sweep_figures.PART: sweep_figures.measure,
    laboratory_figures.PART: laboratory_figures.measure,
    grading.PART: grading.measure,
    phases.PART: phases.measure,
}

#: Starts, rounds and runs of each side. A median of 7 bears three that the machine disturbed.
_REPEATS = 7


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only", multiple=True, type=click.Choice(list(PARTS)), help="Only this part; repeatable."
)
@click.option("--repeats", type=click.IntRange(1, 100), default=_REPEATS, show_default=True)
@click.option("--kind", is_flag=True, help="Also phases of an attempt, on a kind cluster too.")
@click.option("--check", is_flag=True, help="Exit 1 when a part failed or a goal is missed.")
@click.option("--json", "as_json", is_flag=True, help="Print the result file, not the table.")
@click.option(
    "--results-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the result goes. Default: benchmarks/results, of a run of all parts only.",
)
def bench(
    *,
    only: Sequence[str],
    repeats: int,
    kind: bool,
    check: bool,
    as_json: bool,
    results_dir: Path | None,
) -> int:
    """Measure this checkout beside its peers, in one run.

    Exit codes: 0 it ran; 1 with --check: something failed or a goal is missed.
    """
    names = [name for name in PARTS if name in only or (not only and (kind or name != phases.PART))]
    run = _run(names, repeats=repeats)
    if folder := results_dir or (None if only else RESULTS_DIR):
        for path in write_results(run, folder):
            say_on_stderr(f"wrote {path}")
    if as_json:
        click.echo(json.dumps(run.to_json(), indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(table_lines(run.figures, run.failed)))
    return EXIT_FAILED if check and not run.ok else 0


def _run(names: Sequence[str], *, repeats: int) -> Run:
    began_at, began_s, before = SYSTEM_CLOCK.now(), SYSTEM_CLOCK.monotonic_s(), read_load()
    with open_workbench(repeats=repeats, say=say_on_stderr) as workbench:
        parts, failed = measure_parts({name: PARTS[name] for name in names}, workbench)
        return Run(
            began_at=began_at,
            duration_s=SYSTEM_CLOCK.monotonic_s() - began_s,
            repeats=repeats,
            machine=describe_machine(before=before, after=read_load()),
            versions=read_versions(workbench),
            parts=parts,
            failed=failed,
        )


def measure_parts(
    parts: Mapping[str, Callable[[Workbench], Part]], workbench: Workbench
) -> tuple[dict[str, Part], dict[str, str]]:
    """Measure every part; one that cannot be measured takes no other with it.

    Returns:
        Part to what it found, and part to why it found nothing.
    """
    found: dict[str, Part] = {}
    failed: dict[str, str] = {}
    for name, measure in parts.items():
        try:
            found[name] = measure(workbench)
        except (HarnessError, click.ClickException, OSError, ValueError, LookupError) as error:
            failed[name] = reason(error)
            workbench.say(f"{name} failed: {failed[name]}")
    return found, failed


def reason(error: Exception) -> str:
    """Return why a part failed, as one line. Pure."""
    said = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
    return " ".join(str(said).split())


def main() -> None:
    """Run the benchmark and exit; an error of ours has its exit code of `strandline`."""
    signal.signal(signal.SIGTERM, raise_interrupt)
    try:
        code = bench.main(standalone_mode=False)
    except HarnessError as error:
        say_on_stderr(f"error: {error.message}")
        if error.hint:
            say_on_stderr(f"hint: {error.hint}")
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        say_on_stderr("interrupted")
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
