"""config, models, doctor, and where keys come from: what is said, and that no secret is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsh.cli.setup.keys import find_key, hidden_variables, key_source, known_keys, without_keys
from agentsh.errors import UsageError
from agentsh.settings import EndpointSettings
from tests.cli.program import agentsh
from tests.support.endpoint import Handler, Reply, serve, status, text

KEY = "sk-check-0123456789abcdef"


@pytest.fixture
def home(clean_environment: Path) -> Path:
    folder = clean_environment / "agentsh"
    folder.mkdir(mode=0o700)
    return folder


def test_config_says_where_each_value_comes_from(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text('[endpoint]\nmodel = "m"\napi_key_command = "echo k"\n')
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@host/v1?key=secret")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    shown = agentsh("config", "--json")
    value = shown.json()

    assert isinstance(value, dict)
    settings = value["settings"]
    assert settings["endpoint.model"] == {"value": "m", "source": f"{home}/config.toml:2"}
    assert settings["endpoint.base_url"] == {
        "value": "http://host/v1",
        "source": "OPENAI_BASE_URL",
    }
    assert settings["endpoint.api_key_command"]["value"] == "(set)"
    assert settings["approve.policy"] == {"value": None, "source": "default"}
    assert value["key"] == "api_key_command"
    assert value["places"]["sessions"] == str(home / "sessions")
    for words in (shown.out, agentsh("config").out):
        assert KEY not in words
        assert "secret" not in words
        assert "echo k" not in words


def test_options_are_the_strongest_source() -> None:
    shown = agentsh("config", "--json", "-m", "other", "--idle-timeout", "1.5").json()

    assert isinstance(shown, dict)
    assert shown["settings"]["endpoint.model"] == {"value": "other", "source": "option"}
    assert shown["settings"]["endpoint.idle_timeout"] == {"value": 1.5, "source": "option"}


def test_an_unknown_setting_is_a_warning_on_stderr_only(home: Path) -> None:
    (home / "config.toml").write_text("[approve]\nplicy = 1\n")

    shown = agentsh("config", "--json")

    assert shown.code == 0
    assert "config.toml:2: unknown setting approve.plicy" in shown.err
    assert json.loads(shown.out)


@pytest.mark.parametrize("where", ["config.toml", "gone.toml"])
def test_a_settings_file_that_is_a_link_to_nowhere_is_no_absent_one(home: Path, where: str) -> None:
    (home / "config.toml").symlink_to(where)

    shown = agentsh("config")

    assert shown.code == 2
    assert "config.toml: cannot be read" in shown.err


def test_models_lists_what_the_endpoint_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text("x"), models=[{"id": "one"}, {"id": "two", "context_length": 4096}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "two")
        listed = agentsh("models", "--json").json()
        shown = agentsh("models").out

    assert isinstance(listed, list)
    assert [(m["id"], m["selected"]) for m in listed] == [("one", False), ("two", True)]
    assert listed[1]["context_window"] == 4096
    assert shown.split("\n")[1].startswith("* two")


def test_models_of_a_dead_endpoint_is_exit_1_with_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve(text("x")) as server:
        url, port = server.base_url, server.port
    monkeypatch.setenv("OPENAI_BASE_URL", url)

    failed = agentsh("models")

    assert (failed.code, failed.out) == (1, "")
    assert f"127.0.0.1:{port}" in failed.err


def test_an_endpoint_that_lists_no_model_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text("ok")) as endpoint:
        endpoint.models = []
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        shown = agentsh("models")

    assert (shown.code, shown.out) == (0, "")
    assert "lists no model" in shown.err


def test_a_list_of_models_that_fails_is_no_dead_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text("ok")) as endpoint:
        endpoint.listing = status(200, b'{"data":[{"id"')
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        shown = agentsh("run", "hi")

    assert (shown.code, shown.out) == (1, "")
    assert "the list of models is no JSON" in shown.err
    assert "name one with -m" in shown.err


def test_doctor_finds_nothing_wrong_with_a_good_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text("x"), models=[{"id": "one"}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        report = agentsh("doctor", "--json")

    value = report.json()
    assert isinstance(value, dict)
    assert (report.code, value["ok"]) == (0, True)
    assert KEY not in report.out + report.err
    found = {f["subject"]: f["level"] for f in value["findings"]}
    assert (found["endpoint"], found["model"], found["key"]) == ("ok", "ok", "ok")


def test_doctor_names_what_is_wrong(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text("[approve]\npolicy = 7\n")
    broken = agentsh("doctor")
    (home / "config.toml").write_text("")
    with serve(text("x")) as server:
        url = server.base_url
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("AGENTSH_SESSION_DIR", str(home / "config.toml"))
    dead = agentsh("doctor")

    assert broken.code == 2
    assert "config.toml:2" in broken.out
    assert dead.code == 2
    assert [line.split()[:2] for line in dead.out.split("\n") if line.startswith("wrong")] == [
        ["wrong", "sessions"],
        ["wrong", "endpoint"],
    ]


def below_v1(good: Reply) -> Reply:
    """A server that knows nothing beside /v1."""

    def reply(handler: Handler) -> None:
        (good if handler.path.startswith("/v1/") else status(404, "404 page not found"))(handler)

    return reply


def test_a_base_url_without_its_version_is_named_with_the_one_that_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serve(below_v1(text("x"))) as server:
        server.listing = below_v1(status(200, {"data": [{"id": "one"}]}))
        root = server.base_url.removesuffix("/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", root)
        doctor = agentsh("doctor")
        asked = agentsh("run", "-m", "one", "hi", cwd=tmp_path)
        listed = agentsh("run", "hi", cwd=tmp_path)
        posts = [r.path for r in server.requests]

    assert doctor.code == 2
    assert f"{root}/v1/models answers: set the base URL to {root}/v1" in doctor.out
    assert asked.code == 1
    assert f"POST {root}/chat/completions was asked" in asked.err
    assert f"GET {root}/models was asked" in listed.err
    for ended in (asked, listed):
        assert f"is the base URL {root}/v1?" in ended.err
    # nothing is sent anywhere else on its own account
    assert posts == ["/chat/completions"]


@pytest.mark.parametrize(
    "elsewhere",
    [status(200, "<html>hello</html>"), status(405, "no"), status(200, {"status": "ok"})],
)
def test_doctor_finds_the_api_wherever_the_base_url_leads_to(
    elsewhere: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text("x")) as server:
        good = status(200, {"data": [{"id": "one"}]})
        server.listing = lambda handler: (
            good if handler.path.startswith("/api/v1/") else elsewhere
        )(handler)
        root = server.base_url.removesuffix("/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{root}/v1".replace("://", f"://{KEY}@"))
        doctor = agentsh("doctor")
        keys = {r.headers["authorization"] for r in server.listings}

    assert doctor.code == 2
    assert f"set the base URL to {root}/api/v1" in doctor.out
    assert keys == {f"Bearer {KEY}"}
    assert KEY not in doctor.out + doctor.err


def test_a_key_with_bearer_before_it_is_sent_once_and_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serve(text("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", f"Bearer {KEY}")
        ended = agentsh("run", "hi", cwd=tmp_path)
        (sent,) = [r.headers["authorization"] for r in server.requests]

    assert (ended.code, sent) == (0, f"Bearer {KEY}")
    assert "OPENAI_API_KEY" in ended.err
    assert KEY not in ended.err + ended.out


def test_a_key_comes_from_its_own_variable_then_its_command_then_the_usual_one() -> None:
    own = EndpointSettings(api_key_env="HERON_KEY")
    command = EndpointSettings(api_key_command="printf ' from-command\\n'")
    environ = {"HERON_KEY": "own", "OPENAI_API_KEY": "usual"}

    assert find_key(own, environ) == "own"
    assert find_key(own, {"OPENAI_API_KEY": "usual"}) == "usual"
    assert find_key(command, environ) == "from-command"
    assert find_key(EndpointSettings(), {"OPENAI_API_KEY": " "}) is None
    assert [key_source(e, environ) for e in (own, command, EndpointSettings())] == [
        "HERON_KEY",
        "api_key_command",
        "OPENAI_API_KEY",
    ]
    assert hidden_variables(own) == {"HERON_KEY", "OPENAI_API_KEY"}


@pytest.mark.parametrize("command", ["exit 3", "true"])
def test_a_keys_command_that_gives_none_is_said(command: str) -> None:
    with pytest.raises(UsageError, match="api_key_command"):
        find_key(EndpointSettings(api_key_command=command), {"PATH": "/usr/bin:/bin"})


def test_a_keys_command_that_takes_its_time_is_said_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentsh.cli.setup.keys.QUIET_SECONDS", 0.05)
    told: list[str] = []
    slow = EndpointSettings(api_key_command="sleep 0.3; echo late")
    assert find_key(slow, {"PATH": "/usr/bin:/bin"}, told.append) == "late"
    assert told == ["waiting for api_key_command (at most 30 s)"]

    monkeypatch.setattr("agentsh.cli.setup.keys.MOST_SECONDS", 0.1)
    with pytest.raises(UsageError, match="did not end"):
        find_key(EndpointSettings(api_key_command="sleep 30"), {"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("kind", ["loop", "long"])
def test_a_home_that_cannot_be_is_named_by_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    home = tmp_path / ("x" * 300 if kind == "long" else "loop")
    if kind == "loop":
        home.symlink_to(home)
    monkeypatch.setenv("AGENTSH_HOME", str(home))

    for words in (("run", "hi"), ("doctor",), ("sessions",), ("show", "last")):
        ended = agentsh(*words, cwd=tmp_path)
        assert (ended.code != 70, ended.err != "") == (True, True), (words, ended)
    found = {
        f["subject"]: f
        for f in json.loads(agentsh("doctor", "--json", cwd=tmp_path).out)["findings"]
    }
    assert [found[subject]["level"] for subject in ("sessions", "settings")] == ["wrong"] * 2


def test_no_variable_that_holds_the_key_is_handed_on_whatever_it_is_called() -> None:
    key = "heron-2f9c41d7b8e0-river"
    environ = {"OPENAI_API_KEY": key, "AUTH": f"Bearer {key}", "COPY": key, "PATH": "/bin"}
    from_command = EndpointSettings(api_key_command="echo heron-of-a-command")
    find_key(from_command, {"PATH": "/usr/bin:/bin"})
    keys = known_keys(from_command, {"OPENAI_API_KEY": "none"})

    assert without_keys(environ) == {"PATH": "/bin"}
    assert without_keys(environ, passed=["COPY"]) == {"COPY": key, "PATH": "/bin"}
    assert keys == {"heron-of-a-command"}
    assert without_keys({"X": "heron-of-a-command", "Y": "1"}, (), keys) == {"Y": "1"}
