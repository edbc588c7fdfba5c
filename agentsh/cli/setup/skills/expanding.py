"""What the agent is handed of skills and templates: the list for the model, and who expands calls.

A start without skills asks which folders are there and loads nothing more; a text that does not
begin with a slash is never looked at. Files are read when they are called, so an edit counts at
once. Read next: agent/prompts/expansion.py, cli/setup/skills/finding.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.skills.places import SearchFolder, skill_folders, template_folders
from agentsh.cli.setup.trust import project_root
from agentsh.context.skills import SkillHead, count_shortened
from agentsh.errors import SkillNotFoundError

if TYPE_CHECKING:
    from agentsh.cli.setup.skills.finding import Findings, FoundFile

SKILL_WORD: Final = "skill:"


class SlashExpander:
    """Satisfies Expander: `/skill:NAME words`, and `/NAME words` of a template."""

    def __init__(
        self, configuration: Configuration, cwd: Path, skills: Sequence[FoundFile]
    ) -> None:
        self._configuration = configuration
        self._cwd = cwd
        self._skills = {each.name: each for each in skills}

    def expand(self, text: str) -> str:
        if not text.startswith("/"):
            return text
        from agentsh.context.templates import fill_template, split_arguments, split_call

        call = split_call(text)
        if call is None:
            return text
        name, words = call
        if name.startswith(SKILL_WORD):
            return self._skill_prompt(text[len(SKILL_WORD) + 1 :])
        template = self._template(name)
        return text if template is None else fill_template(template, split_arguments(words))

    def commands(self) -> Sequence[PromptCommand]:
        if self._configuration.settings.skills.enabled:
            self._look_again()
        return tuple(
            PromptCommand(
                f"{SKILL_WORD}{each.name}", "[WORDS]", each.description, each.source, each.path
            )
            for each in self._skills.values()
        ) + tuple(self._template_commands())

    # ---- skills ----------------------------------------------------------------------------------

    def _skill_prompt(self, called: str) -> str:
        """`called`: the name and what stands behind it. Raises SkillNotFoundError."""
        from agentsh.cli.setup.skills.finding import read_text_behind_head
        from agentsh.context.skills import skill_prompt

        if not self._configuration.settings.skills.enabled:
            raise SkillNotFoundError("skills are left out (--no-skills, or [skills] enabled)")
        named = self._named(called)
        if named is None:
            self._look_again()
            named = self._named(called)
        if named is None:
            name = called.split(maxsplit=1)[0] if called.split() else ""
            names = ", ".join(sorted(self._skills)) or "none"
            raise SkillNotFoundError(f"there is no skill {name!r}; there are: {names}")
        skill, words = named
        try:
            text = read_text_behind_head(Path(skill.path))
        except OSError as e:
            raise SkillNotFoundError(f"{skill.path} cannot be read: {e.strerror or e}") from e
        return skill_prompt(head_of(skill), text, words)

    def _named(self, called: str) -> tuple[FoundFile, str] | None:
        """The skill whose name it begins with, up to a blank; a name may hold blanks itself."""
        for name in sorted(self._skills, key=len, reverse=True):
            behind = called.removeprefix(name)
            if called.startswith(name) and (not behind or behind[0].isspace()):
                return self._skills[name], behind.strip()
        return None

    def _look_again(self) -> None:
        findings = find_skill_files(self._configuration, self._cwd)
        self._skills = {each.name: each for each in findings.files} if findings else {}

    # ---- templates -------------------------------------------------------------------------------

    def _folders(self) -> list[SearchFolder]:
        configuration = self._configuration
        root = project_root(self._cwd)
        return template_folders(configuration.skill_folders, root, configuration.places)

    def _template(self, name: str) -> str | None:
        """The text of the nearest one. Raises SkillNotFoundError: it cannot be read."""
        if not self._configuration.settings.templates.enabled or "/" in name:
            return None
        from agentsh.cli.setup.skills.builtin import BUILTIN_TEMPLATES
        from agentsh.cli.setup.skills.finding import find_template, read_text_behind_head

        path = find_template(name, self._folders())
        if path is None:
            return BUILTIN_TEMPLATES[name].text if name in BUILTIN_TEMPLATES else None
        try:
            return read_text_behind_head(path).strip()
        except OSError as e:
            raise SkillNotFoundError(f"{path} cannot be read: {e.strerror or e}") from e

    def _template_commands(self) -> Iterator[PromptCommand]:
        if not self._configuration.settings.templates.enabled:
            return
        names = set()
        files = find_template_files(self._configuration, self._cwd).files
        for each in (*files, *builtin_files()):
            if each.name not in names:
                names.add(each.name)
                path = each.path or None
                yield PromptCommand(each.name, each.arguments, each.description, each.source, path)


def head_of(skill: FoundFile) -> SkillHead:
    """What the model is told of it."""
    return SkillHead(skill.name, skill.description, skill.path)


def find_skill_files(configuration: Configuration, cwd: Path) -> Findings | None:
    """Every skill that counts here; None where none can be, so that nothing need be loaded."""
    skills = configuration.settings.skills
    if not skills.enabled:
        return None
    folders = skill_folders(
        configuration.skill_folders, project_root(cwd), configuration.places, skills.paths, cwd
    )
    if not folders:
        return None
    from agentsh.cli.setup.skills.finding import find_skills
    from agentsh.cli.setup.skills.kept import KeptHeads

    return find_skills(folders, KeptHeads(configuration.places.skills))


def find_template_files(configuration: Configuration, cwd: Path) -> Findings:
    """Every template that is a file."""
    from agentsh.cli.setup.skills.finding import find_templates
    from agentsh.cli.setup.skills.kept import KeptHeads

    root = project_root(cwd)
    folders = template_folders(configuration.skill_folders, root, configuration.places)
    return find_templates(folders, KeptHeads(configuration.places.skills))


def builtin_files() -> list[FoundFile]:
    """The templates that agentsh brings along, as those that are files."""
    from agentsh.cli.setup.skills.builtin import BUILTIN_TEMPLATES
    from agentsh.cli.setup.skills.finding import FoundFile

    return [
        FoundFile(name, each.help, "", "built-in", each.arguments)
        for name, each in BUILTIN_TEMPLATES.items()
    ]


def shadowed_templates(configuration: Configuration, cwd: Path, own: Collection[str]) -> list[str]:
    """What to say of templates that a command of the chat's own goes before."""
    if not configuration.settings.templates.enabled:
        return []
    folders = template_folders(configuration.skill_folders, project_root(cwd), configuration.places)
    if not folders:
        return []
    from agentsh.cli.setup.skills.finding import template_files

    paths = (path for folder in folders for path in template_files(folder.path, lambda _: None))
    return [
        f"{path} is not used in a chat: /{path.stem} is a command of its own"
        for path in paths
        if path.stem in own
    ]


def skills_here(
    configuration: Configuration, cwd: Path, window: int | None
) -> tuple[tuple[SkillHead, ...], SlashExpander, tuple[str, ...]]:
    """Those that the model is told of, who expands calls, and what to tell the person."""
    findings = find_skill_files(configuration, cwd)
    expander = SlashExpander(configuration, cwd, findings.files if findings else ())
    return _listed(findings), expander, _notices(findings, window)


def _listed(findings: Findings | None) -> tuple[SkillHead, ...]:
    """Those that the model is told of."""
    return tuple(head_of(each) for each in findings.files if not each.is_hidden) if findings else ()


def _notices(findings: Findings | None, window: int | None) -> tuple[str, ...]:
    """What is odd about them, and how many had to be shortened."""
    if findings is None:
        return ()
    heads = _listed(findings)
    count = count_shortened(heads, window)
    if not count:
        return findings.notices
    words = (
        f"the descriptions of {count} skills ({len(heads)} in all) are shortened for the model:"
        " they would take more than 8 % of what it holds"
    )
    return (*findings.notices, words)
