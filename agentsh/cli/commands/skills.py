"""`agentsh skills`: the skills and templates that can be called here. Looks only, and asks nobody.

Read next: cli/setup/skills/finding.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json

if TYPE_CHECKING:
    from agentsh.cli.setup.skills.finding import Findings
    from agentsh.jsontext import JsonValue


def skills(options: ModelOptions, json: Json = False) -> int:
    """List the skills and prompt templates that can be called here."""
    from agentsh.cli.output import print_json, print_lines
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.skills.expanding import (
        builtin_files,
        find_skill_files,
        find_template_files,
    )
    from agentsh.cli.setup.skills.finding import Findings

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    skill_files = find_skill_files(configuration, cwd) or Findings()
    templates = find_template_files(configuration, cwd)
    names = {file.name for file in templates.files}
    builtin = [file for file in builtin_files() if file.name not in names]
    templates = Findings((*templates.files, *builtin), templates.left_out)
    if json:
        print_json({"skills": _as_json(skill_files), "templates": _as_json(templates)})
    else:
        print_lines([*_lines("/skill:", skill_files), *_lines("/", templates)])
    warn([*skill_files.notices, *templates.notices])
    return 0


def _as_json(findings: Findings) -> JsonValue:
    files: list[JsonValue] = [
        {
            "name": file.name,
            "description": file.description,
            "arguments": file.arguments,
            "path": file.path or None,
            "source": file.source,
            "listed": not file.is_hidden,
            "warnings": list(file.warnings),
        }
        for file in findings.files
    ]
    return {"found": files, "left_out": list(findings.left_out)}


def _lines(begin: str, findings: Findings) -> Iterator[str]:
    from agentsh.sanitize import safe_line

    for file in findings.files:
        call = f"{begin}{file.name} {file.arguments}".rstrip()
        hidden = "  (not told to the model)" if file.is_hidden else ""
        yield f"{safe_line(call)}  {file.source}{hidden}"
        yield f"  {safe_line(file.description, 120)}"
        if file.path:
            yield f"  {safe_line(file.path, 4096)}"
