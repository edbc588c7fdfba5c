"""Declares the commands that say what is configured: models, config, doctor.

Signatures only; each has a module of its own.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

import typer

from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.options import Json, add


def declare(app: typer.Typer) -> None:
    """Register them."""
    for command in (models, config, doctor):
        add(app, command, options=ModelOptions)


def models(options: ModelOptions, json: Json = False) -> int:
    """List the models of the endpoint, and what is known of each."""
    from agentsh.cli.models import models as start

    return start(options, json=json)


def config(options: ModelOptions, json: Json = False) -> int:
    """Show every setting, and where its value comes from."""
    from agentsh.cli.config import config as start

    return start(options, json=json)


def doctor(options: ModelOptions, json: Json = False) -> int:
    """Say what is wrong with the set-up, if anything."""
    from agentsh.cli.doctor import doctor as start

    return start(options, json=json)
