"""What the words of a command can do beyond the rule that names its first words. A table, pure.

A rule `find` says "find may run", not "whatever find can start may run". So the words after those
that the rule names are held against this table, by the program's name:
  HARMLESS   nothing that they take runs a program or writes a file: all words pass
  WHOLE      they run another program, or write where an operand says: the rule must name every word
  NAMED      an interpreter, or a program with subcommands: the rule must name the script or the
             subcommand too (`python manage.py`, `git status`); `git` alone covers nothing
  OPTIONS    options of this program that run something or write somewhere, asked about unless named
Every other program is held against SUSPECT, names of options that mean such things almost anywhere.
A long option is met by each of its abbreviations, a short one inside a cluster (`sort -uo x`);
that asks too often now and then, and never too seldom. The table is documented in docs/security.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HARMLESS: Final = _names("""
    echo printf true false pwd ls cat head tail wc cut tr paste nl fold rev tac basename dirname
    realpath readlink stat du df id whoami uname arch nproc cksum md5sum sha1sum sha256sum
    sha512sum cmp comm diff seq sleep test expr type which printenv grep egrep fgrep ps uptime
    free od hexdump strings jq
""")

WHOLE: Final = _names("""
    env command builtin exec eval source . trap alias xargs parallel sudo su doas runuser nice
    ionice nohup time timeout stdbuf setsid unshare nsenter chroot bwrap firejail watch script
    flock strace ltrace gdb valgrind busybox ssh unbuffer expect at batch crontab systemd-run
    entr setarch taskset chrt numactl prlimit pkexec npx bunx uvx pipx rlwrap enable bind complete
    compgen mapfile readarray fc history hash set shopt export declare typeset local readonly
    unset cd pushd popd umask ulimit kill tar wget uniq tee scp sftp rsync dd install zip unzip
    cpio ar gcc g++ cc c++ clang ld as make gmake ninja xxd split csplit sdiff
""")

NAMED: Final = _names("""
    sh bash dash zsh ksh fish ash csh tcsh python python2 python3 pypy pypy3 perl ruby node nodejs
    deno bun php lua luajit Rscript julia tclsh java awk gawk mawk nawk sed ed ex vi vim nvim
    emacs cmake just task rake gradle mvn ant bazel npm pnpm yarn cargo go dotnet rustup git hg
    svn gh glab docker podman kubectl helm terraform ansible ansible-playbook vagrant systemctl
    service apt apt-get dpkg dnf yum pacman apk brew snap pip pip3 uv poetry pdm hatch conda mamba
    nox tox pre-commit invoke fab aws gcloud az heroku fly vercel netlify supabase yq sqlite3 psql
    mysql m4 bc dc
""")

_FIND = _names("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")
_FD = _names("-x -X --exec --exec-batch")

OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "find": _FIND,
    "fd": _FD,
    "fdfind": _FD,
    "rg": _names("--pre --hostname-bin -z --search-zip"),
    "ag": _names("--pager"),
    "sort": _names("-o --output --compress-program -T --temporary-directory"),
    "tree": _names("-o"),
    "file": _names("-C --compile -m --magic-file"),
    "date": _names("-s --set"),
    "less": _names("-o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src -t -T"),
    "man": _names("-P --pager -H --html -X --gxditview -C --config-file -M"),
    "curl": _names("""
        -o --output -O --remote-name --remote-name-all --output-dir -K --config -D --dump-header
        -c --cookie-jar --trace --trace-ascii --stderr -T --upload-file --libcurl --etag-save
        --hsts --alt-svc --engine -J --remote-header-name
    """),
    "pytest": _names("""
        -p -c -o --rootdir --confcutdir --junit-xml --junitxml --basetemp --override-ini
        --config-file --report-log --cov-config --cov-report --debug --pdbcls --log-file
    """),
    "git": _names("""
        --output --output-directory --ext-diff --textconv --upload-pack --receive-pack --exec -x
        --open-files-in-pager -O --template --separate-git-dir --config -c --run --gpg-sign --sign
        --show-signature --edit --interactive -i --strategy --tool --extcmd --sendmail-cmd
        --smtp-server --filter
    """),
}

# git's options before the subcommand; the second kind takes the next word.
_GIT_GLOBAL_VALUES: Final = _names("""
    -C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source
""")
# Subcommands whose next word is again a subcommand, or which run what they are told to.
_GIT_DEEPER: Final = _names("""
    config remote submodule bisect worktree stash hook notes flow lfs maintenance filter-branch
    for-each-repo difftool mergetool rebase daemon instaweb p4 svn cvsserver archive bundle clone
""")
# Programs with subcommands that run what the next word names, and those subcommands.
_WITH_RUNNERS: Final = _names("npm pnpm yarn bun uv poetry pdm hatch go docker podman conda cargo")
_RUNNERS: Final = _names("run exec x dlx tool eval start script run-script compose watch")

SUSPECT: Final = _names("""
    exec command cmd output out outfile outdir shell script eval plugin hook pager editor wrapper
    program config rsh pre filter require import load init rcfile log-file logfile write save dump
    fix in-place inplace delete remove launcher runner interpreter proxy report junit basetemp
    rootdir cache-dir prefix target
""")
_SUSPECT_SHORT: Final = ("-o", "-O", "-c", "-e", "-x", "-i", "-toolexec", "-vettool", "-delete")


def danger_beyond(words: tuple[str, ...], named: int) -> str | None:
    """Why the words after the first `named` ones need a question; None if they do not."""
    program = _program(words)
    rest = words[named:]
    if program in HARMLESS:
        return None
    if program in WHOLE:
        return f"every word of {program} must be named by the rule" if rest else None
    if program in NAMED and _must_name_more(program, words[:named]) and len(words) > 1:
        return f"{program} does what its next words say, and the rule does not name them"
    for word in rest:
        if _is_dangerous(program, word):
            return f"{word} can make {program} run another program or write a file"
    return None


def offered_length(words: tuple[str, ...]) -> int:
    """How many first words to offer as a rule; 0: none, the command should stand as it is."""
    program = _program(words)
    if program in HARMLESS:
        return 1
    if program not in NAMED:
        return 0
    sizes = range(2, min(len(words), 4) + 1)
    return next((size for size in sizes if not _must_name_more(program, words[:size])), 0)


def _program(words: tuple[str, ...]) -> str:
    return words[0].rsplit("/", 1)[-1]


def _must_name_more(program: str, named: tuple[str, ...]) -> bool:
    """Whether a rule of these words leaves open which script or subcommand will be run."""
    operands = [word for word in named[1:] if not word.startswith("-")]
    if program == "git":
        operands = _git_operands(named)
        return len(operands) < (2 if operands[:1] and operands[0] in _GIT_DEEPER else 1)
    if program in _WITH_RUNNERS:
        return len(operands) < (2 if operands[:1] and operands[0] in _RUNNERS else 1)
    return not operands


def _git_operands(named: tuple[str, ...]) -> list[str]:
    """The subcommand and what follows it, without git's own options and their values."""
    at = 1
    while at < len(named) and named[at].startswith("-"):
        at += 2 if named[at] in _GIT_GLOBAL_VALUES else 1
    return [word for word in named[at:] if not word.startswith("-")]


def _is_dangerous(program: str, word: str) -> bool:
    if not word.startswith("-"):
        return False
    options = OPTIONS.get(program)
    if options is not None:
        return any(_is_option(word, option) for option in options)
    if not word.startswith("--"):
        return word.startswith(_SUSPECT_SHORT) or word.lstrip("-").startswith(("exec", "ok"))
    name = word[2:].split("=", 1)[0].lower()
    return any(part in name for part in SUSPECT)


def _is_option(word: str, option: str) -> bool:
    """Whether a word is, abbreviates, clusters or begins with the option."""
    if option.startswith("--"):
        name = word.split("=", 1)[0]
        return word.startswith("--") and len(name) > 2 and option.startswith(name)
    if len(option) > 2:  # find's long words with one dash
        return word.startswith(option)
    return not word.startswith("--") and option[1] in word[1:]
