"""The host of a driver from outside: besides sessions, models and what there is to look at.

It satisfies agent/driven/remotehost.RemoteHost. What few drivers ask for is loaded when it is asked
for. Read next: driving.py, agent/driven/remotehost.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from agentsh.agent.config import EndpointLimits
from agentsh.agent.driven.remotehost import DrivenModel
from agentsh.agent.turn.inbox import QueueKind
from agentsh.cli.assembly.driving import ProgramHost
from agentsh.cli.lookup.finding import find_named
from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.files import from_home, is_taken
from agentsh.jsontext import JsonObject
from agentsh.messages import ToolCall
from agentsh.session.format.entries import EntryId
from agentsh.session.search.wish import SearchWish
from agentsh.session.store.marks import Mark, Marks
from agentsh.settings import EndpointSettings
from agentsh.tools.base import Rewritten
from agentsh.tools.toolset import Toolset

_MOST_NAMES = 1000


class ProgramRemoteHost(ProgramHost):
    """The surroundings of one driver from outside."""

    # ---- sessions --------------------------------------------------------------------------------

    def find_session(self, word: str) -> Path:
        self.must_save()
        if word != "last":
            return find_named(self._store, word, str(self._cwd))
        path = self._store.latest(str(self._cwd))
        if path is None:
            raise SessionNotFoundError(f"there is no session of {self._cwd}")
        return path

    def marks(self) -> Mapping[str, Mark]:
        return Marks(self._configuration.places.sessions).all()

    # ---- who answers, and how --------------------------------------------------------------------

    def model(self) -> DrivenModel:
        front = self.front
        provider = front.provider
        info = provider.model_info(front.model.model)
        window = front.report().context_window
        if info.context_window is None and window is not None:
            info = replace(info, context_window=window)
        return DrivenModel(provider.name, provider.endpoint, provider.api, info)

    def models(self) -> Sequence[DrivenModel]:
        from agentsh.cli.assembly.models import lists
        from agentsh.providers.base import ModelInfo

        front = self.front
        listed = lists(self._configuration, self._options, lambda _text: None, front.provider)
        models: list[DrivenModel] = []
        for each in listed:
            infos = {info.id: info for info in each.models}
            named = front.model.model if each.name == front.provider.name else each.endpoint.model
            if named:
                infos.setdefault(named, ModelInfo(named))
            api, url = each.endpoint.api, _shown(each.endpoint)
            models += [DrivenModel(each.name, url, api, info) for info in infos.values()]
        return models

    @property
    def max_retries(self) -> int:
        return self.front.config.max_retries

    def set_auto_retry(self, enabled: bool) -> None:
        front = self.front
        config = front.config
        retries = self._in_use.settings.endpoint.max_retries if enabled else 0
        limits = EndpointLimits(retries, config.max_tokens, config.context_window)
        front.use(front.provider, front.model.model, limits)

    def stop_retrying(self) -> None:
        self.front.asker.stop_retrying()

    def set_auto_compaction(self, enabled: bool) -> None:
        front = self.front
        is_on = enabled and self._in_use.settings.compaction.auto
        front.config = replace(front.config, auto_compact=is_on)

    def set_queue_mode(self, kind: QueueKind, *, at_once: bool) -> None:
        inbox = self.front.inbox
        if kind == "steer":
            inbox.steers_at_once = at_once
        else:
            inbox.follow_ups_at_once = at_once

    # ---- what there is to look at ----------------------------------------------------------------

    def toolset(self) -> Toolset:
        return self.front.workbench.toolset

    def rewritten(self, call: ToolCall, most: int) -> Rewritten | None:
        return self.front.workbench.rewritten(call, most)

    def view(self, name: str, at: EntryId | None) -> JsonObject:
        from agentsh.remote.values.views import view_json

        match name:
            case "chat" | "trace" | "raw":
                return view_json(self.front.session, name, at)
            case _:
                from agentsh.remote.values.modelview import model_view_json

                return model_view_json(self.front.session, at)

    def differences(self, a: str | None, b: str | None) -> JsonObject:
        from agentsh.cli.assembly.comparing import before_last_prompt, differences_here
        from agentsh.remote.values.differences import differences_json

        session = self.front.session
        start = before_last_prompt(session) if a is None else session.resolve(a)
        end = session.leaf if b is None else session.resolve(b)
        differences = differences_here(self.front, self._configuration, start, end)
        return differences_json(session.header.id, differences)

    def search(self, wish: SearchWish) -> Sequence[JsonObject]:
        from agentsh.cli.lookup.searching import find_hits
        from agentsh.remote.values.hits import hit_json

        self.must_save()
        results, _unread = find_hits(wish, self._configuration.places, self._cwd)
        return [hit_json(hit) for hit in results.hits]

    def cost(self, session: str | None, by: str | None, *, everywhere: bool) -> JsonObject:
        from agentsh.cli.lookup.costing import cost_of_many, cost_of_one

        self.must_save()
        if session is not None:
            return cost_of_one(self.find_session(session), by or "turn").as_json()
        places = self._configuration.places
        return cost_of_many(places, self._cwd, by or "session", everywhere).as_json()

    def export_html(self, to: str | None, *, raw: bool) -> Path:
        from agentsh.cli.setup.keys import keys_in_use
        from agentsh.ui.export.writing import write_export

        session, configuration = self.front.session, self._configuration
        target = self._new_page(session.header.id) if to is None else from_home(to)
        target = Path(self._cwd, target)
        if target.suffix.lower() != ".html":
            raise UsageError("export_html writes a file whose name ends in .html")
        keys = keys_in_use(configuration.settings, configuration.environ, self._say)
        write_export(session, target, raw=raw, at=None, keys=keys)
        return target

    def _new_page(self, session: str) -> Path:
        """A name in the folder that is not taken."""
        names = (f"agentsh-{session}{(n and f'-{n}') or ''}.html" for n in range(_MOST_NAMES))
        return next(Path(name) for name in names if not is_taken(Path(self._cwd, name)))


def _shown(endpoint: EndpointSettings) -> str:
    """Its URL, without what a person may have put into it to sign in."""
    from agentsh.providers.endpoint import read_endpoint

    return "" if endpoint.base_url is None else read_endpoint(endpoint.base_url).shown
