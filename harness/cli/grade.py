"""strandline grade."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option, print_json
from harness.cli.run import exit_code, show


@click.command()
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path, file_okay=False))
@json_option
@click.option(
    "--markdown", "as_markdown", is_flag=True, help="Print Markdown, for a job's summary."
)
def grade(*, run_dir: Path, as_json: bool, as_markdown: bool) -> int:
    """Grade a finished run again from its evidence, with no cluster.

    The same evidence gives the same bytes. Evidence that was changed is refused.
    """
    if as_json and as_markdown:
        msg = "give either --json or --markdown"
        raise click.UsageError(msg)
    from harness.bench.regrade import regrade
    from harness.model.results import to_json

    regraded = regrade(run_dir)
    if as_json:
        print_json(to_json(regraded.report))
    elif as_markdown:
        from harness.report.markdown import markdown

        click.echo(markdown(regraded.report), nl=False)
    else:
        show(regraded.report)
    for path in regraded.changed:
        click.echo(f"changed: {path}", err=True)
    return exit_code(regraded.report, None)
