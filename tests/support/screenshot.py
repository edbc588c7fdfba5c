"""docs/exported-page.png, made from an example session in headless Chromium; run this module."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from agentsh.cli import app
from tests.support.browser import Browser, find_browser

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURE = ROOT / "docs/exported-page.png"
SESSION = ROOT / "sessions.example/branched.jsonl"


def main() -> None:
    program = find_browser()
    if program is None:
        sys.exit("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.html"
        try:
            app.run_program(["export", str(SESSION), "--to", str(page)])
        except SystemExit as e:
            if e.code:
                raise
        with Browser(program, Path(name) / "profile", width=960, height=600) as browser:
            browser.open(page)
            browser.evaluate("document.querySelector('main article details[id]').open = true")
            PICTURE.write_bytes(browser.picture())


if __name__ == "__main__":
    main()
