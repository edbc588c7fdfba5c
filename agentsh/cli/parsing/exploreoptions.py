"""The options of `agentsh explore` that its resume takes as well, and those of its branches.

Read next: modeloptions.py, cli/commands/explore.py.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field
from msgspec.structs import asdict

from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.parsing.options import Continue, FromEntry, SessionOption
from agentsh.cli.parsing.words import Argument, Option

ExplorationWord = Annotated[str, Argument(help="name, unique prefix, or `last`")]
BranchWord = Annotated[str, Argument(help="EXPLORATION.N, or N of the last exploration")]
OptionalExploration = Annotated[str, Argument(help="name, unique prefix, or `last` (the default)")]


class ExploreOptions(TurnOptions, frozen=True):
    """Those of `run`, for every branch; and the limits of the whole."""

    model: Annotated[
        list[str],
        Option(
            "-m",
            "--model",
            metavar="ID",
            help="a model, or NAME/ID of [endpoints.NAME]; several: each is asked",
            complete="models",
        ),
    ] = field(default_factory=list)  # type: ignore[assignment]  # as many as there are models
    parallel: Annotated[
        int | None, Option("-j", "--parallel", least=1, metavar="N", help="branches at once (4)")
    ] = None
    cost_limit: Annotated[
        float | None,
        Option("--cost-limit", least=0.0, metavar="USD", help="of the whole exploration"),
    ] = None
    token_limit: Annotated[
        int | None,
        Option("--token-limit", least=1, metavar="N", help="of the whole exploration"),
    ] = None
    time_limit: Annotated[
        float | None,
        Option("--time-limit", least=0.0, metavar="SECONDS", help="of each branch (3600)"),
    ] = None
    max_steps: Annotated[
        int | None, Option("--max-steps", least=1, metavar="N", help="requests of each branch")
    ] = None
    retries: Annotated[
        int | None,
        Option("--retries", least=0, metavar="N", help="how often a branch that died goes on (1)"),
    ] = None
    lead: Annotated[
        float | None,
        Option(
            "--lead",
            least=0.0,
            metavar="SECONDS",
            help="how long the others wait for the first answer's beginning (20); 0: not at all",
        ),
    ] = None
    keep: Annotated[bool, Option("--keep", help="workspaces stay")] = False
    engine: Annotated[
        str | None,
        Option("--engine", metavar="NAME", help="local (this machine) or ray (extra [ray])"),
    ] = None
    ray_address: Annotated[
        str | None,
        Option(
            "--ray-address", metavar="A", help="HOST:PORT of a Ray cluster; else one of our own"
        ),
    ] = None
    slots: Annotated[
        int | None,
        Option("--slots", least=1, metavar="N", help="branches at once on a machine of ray (4)"),
    ] = None
    send_key: Annotated[
        bool, Option("--send-key", help="hand the key to the machines of ray; else each its own")
    ] = False
    output: Annotated[str, Option("--output", metavar="FORM", help="text, json or events")] = "text"

    def of_a_branch(self) -> TurnOptions:
        """What each branch's turn is given; its model is the plan's."""
        own = asdict(TurnOptions())
        said = {name: value for name, value in asdict(self).items() if name in own}
        return TurnOptions(**{**said, "model": None})

    def limits(self) -> dict[str, object]:
        """What was said of the whole, by the names of records.Limits."""
        said: dict[str, object] = {
            "parallel": self.parallel,
            "cost": self.cost_limit,
            "tokens": self.token_limit,
            "seconds": self.time_limit,
            "steps": self.max_steps,
            "retries": self.retries,
            "lead": self.lead,
            "is_kept": self.keep or None,
        }
        return {name: value for name, value in said.items() if value is not None}


class PlanOptions(ExploreOptions, frozen=True):
    """What is to be run, beside its prompt: what `explore` takes and its resume does not."""

    branches: Annotated[
        int | None,
        Option("-n", "--branches", least=1, metavar="K", help="for each task and model (3 or 1)"),
    ] = None
    tasks: Annotated[
        str | None,
        Option("--tasks", metavar="FILE", help="one prompt a line, or JSON lines"),
    ] = None
    fields: Annotated[
        list[str],
        Option("--field", metavar="OURS=NAME", help="how FILE spells a member (prompt, id …)"),
    ] = field(default_factory=list)
    last: Continue = False
    session: SessionOption = None
    from_entry: FromEntry = None
    files: Annotated[
        bool, Option("--files", help="with --at: the files as recorded there, not as they are now")
    ] = False
    check: Annotated[
        str | None,
        Option("--check", metavar="CMD", help="run in each workspace; exit 0 = passed"),
    ] = None
    check_timeout: Annotated[
        float | None,
        Option("--check-timeout", least=0.0, metavar="SECONDS", help="of a check (600)"),
    ] = None
    protect: Annotated[
        list[str],
        Option("--protect", metavar="GLOB", help="files that the check sees as in the base"),
    ] = field(default_factory=list)
    first: Annotated[
        bool, Option("--first", help="end the others of a task once one has passed")
    ] = False
    setup: Annotated[
        str | None, Option("--setup", metavar="CMD", help="in each workspace before the agent")
    ] = None
    bring: Annotated[
        list[str],
        Option("--with", metavar="PATH", help="an ignored file or folder, copied"),
    ] = field(default_factory=list)
    share: Annotated[
        list[str],
        Option("--share", metavar="PATH", help="an ignored folder, lent read-only"),
    ] = field(default_factory=list)
    name: Annotated[
        str | None, Option("--name", metavar="TEXT", help="what the exploration is called")
    ] = None
