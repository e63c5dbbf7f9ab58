"""The supervisor of a cluster that outlives its command: whose it is from its first moment."""

from __future__ import annotations

import os
from pathlib import Path

from harness.cluster.embedded.provisioned import start_supervisor, why_ended
from harness.cluster.home import create_state_dir, read_ledger, stale_state_dirs


def test_a_supervisor_owns_its_folder_before_it_has_started_anything(tmp_path: Path) -> None:
    state_dir = create_state_dir(tmp_path, "provisioned", owner_pid=os.getpid())

    supervisor = start_supervisor(state_dir)
    ledger = read_ledger(state_dir)
    assert supervisor is not None
    os.waitpid(supervisor.pid, 0)

    assert ledger is not None
    assert ledger.owner == supervisor
    assert why_ended(state_dir) == f"{state_dir / 'supervisor.json'}: No such file or directory"
    assert stale_state_dirs(tmp_path) == (state_dir,)
