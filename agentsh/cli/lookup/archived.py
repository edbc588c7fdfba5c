"""The archived sessions as rows of a list. Loads zstd, so it stands alone.

Read next: session/store/archive.py.
"""

from __future__ import annotations

import os

from agentsh.cli.notices import warn
from agentsh.cli.setup.paths import find_places, make_folder
from agentsh.errors import RefusedError
from agentsh.session.format.entries import SessionId
from agentsh.session.store.archive import archives, summarize_archive
from agentsh.session.store.store import SessionRow, Store


def archived_rows(store: Store, cwd: str | None) -> list[SessionRow]:
    """As `Store.rows`, of the archives; each is unpacked for it. One that cannot be is named."""
    state = make_folder(find_places(os.environ).state)
    rows = []
    for path in archives((store.root, *store.folders())):
        try:
            summary = summarize_archive(path, state / f".archived.{os.getpid()}")
        except RefusedError as e:
            warn([str(e)])
            continue
        except OSError as e:
            warn([f"{path} cannot be unpacked: {e.strerror or e}"])
            continue
        if summary is None:
            continue
        home = store.cwd_of(summary.id, summary.cwd)
        if cwd is None or home == cwd:
            rows.append(
                SessionRow(
                    SessionId(summary.id),
                    path,
                    home,
                    summary.shown_name,
                    summary.prompt,
                    summary.created,
                    summary.updated,
                    summary.messages,
                    summary.version,
                    summary.parent,
                    summary.shown_title,
                )
            )
    return sorted(rows, key=lambda r: (r.updated, r.created, str(r.path)), reverse=True)
