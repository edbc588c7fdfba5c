"""What is known of programs: which words after a rule's own only choose what is read. Tables, pure.

A program that is in none of these tables is unknown. Each table says what passes; whatever a table
does not name asks (dangers.py judges by them):
  HARMLESS  no word that they take runs a program or writes a file: all words pass
  READERS   they take files, and those options of them that are named here
  FILTERS   a script in the rule, then files; `sed`, `awk` and their like
  SCRIPTS   a script file in the rule; the words after it are the script's
  SUBCOMMANDS  of programs that have some: `reads` only look (they may be offered), `takes`
            do what a person names them for; any other must be named with all its words
  WHOLE     every word must be named: they run what a word says, write where it says, or evaluate it
A program is looked up by `canonical`, so it is the same under each of its names. Every builtin of
bash is in HARMLESS, EVALUATING or WHOLE (tested against bash itself).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Subcommands, separated by commas; `*` stands for any one word."""
    return frozenset(tuple(part.split()) for part in text.split(","))


class Options(Struct, frozen=True):
    """Options that only choose what is read or shown. `letters` may be clustered."""

    letters: str = ""
    long: frozenset[str] = frozenset()
    is_one_dash: bool = False
    """Long names may be spelled with one dash (go)."""

    def passes(self, word: str) -> bool:
        """Whether a word with a leading dash is one of them; a value may follow `=` or digits."""
        if word in ("-", "--"):
            return True
        name = word.split("=", 1)[0]
        if name.startswith("--") or self.is_one_dash:
            return name.lstrip("-") in self.long
        return bool(self.letters) and set(word[1:].rstrip("0123456789")) <= set(self.letters)


class Program(Struct, frozen=True):
    """A program with subcommands."""

    reads: frozenset[tuple[str, ...]] = frozenset()
    takes: frozenset[tuple[str, ...]] = frozenset()
    options: Options = Options()


HARMLESS: Final = _names("""
    echo true false : pwd ls cat head tail wc cut tr paste nl fold rev tac basename dirname
    realpath readlink stat du df id whoami uname nproc cksum md5sum sha1sum sha256sum
    sha512sum cmp comm diff seq sleep expr type which printenv grep egrep fgrep uptime
    free od hexdump strings jq
""")

EVALUATING: Final = _names("printf test [")
"""Builtins whose words are text, but for names of variables and numbers, which bash evaluates."""

WHOLE: Final = _names("""
    env command builtin exec eval source . trap alias unalias xargs parallel sudo su doas runuser
    nice ionice nohup time timeout stdbuf setsid unshare nsenter chroot bwrap firejail watch script
    flock strace ltrace gdb lldb valgrind busybox toybox ssh unbuffer expect at batch crontab
    systemd-run systemd-nspawn entr setarch linux32 linux64 taskset chrt numactl prlimit pkexec npx
    bunx uvx pipx rlwrap enable bind complete compgen compopt mapfile readarray fc history hash set
    shopt export declare typeset local readonly unset cd pushd popd dirs umask ulimit kill let read
    getopts wait jobs fg bg disown suspend logout exit return break continue shift caller help times
    print integer float nameref autoload emulate sched zmodload noglob nocorrect repeat whence
    tar wget uniq tee scp sftp rsync dd install zip unzip cpio ar gcc g++ cc c++ clang clang++ ld as
    make gmake ninja xxd split csplit sdiff ex ed vi view vim nvim emacs nano cmake just task rake
    gradle gradlew mvn ant bazel dotnet hg svn glab terraform tofu ansible ansible-playbook vagrant
    service apt apt-get dpkg dnf yum pacman apk snap hatch pdm mamba nox tox pre-commit invoke fab
    aws gcloud az heroku fly vercel netlify supabase sqlite psql mysql mariadb mongo mongosh
    redis-cli m4 bc dc deno bundle pipenv mise asdf direnv dotenv op lein mix rebar sbt stack cabal
    opam nix nix-shell nix-env guix flatpak machinectl lxc incus crictl nerdctl oc ctr multipass wsl
    cmd powershell pwsh osascript open xdg-open screen tmux zellij xterm proxychains fakeroot
    faketime eatmydata sg newgrp runcon capsh setpriv ssh-agent socat nc ncat netcat telnet ftp lftp
    rsh rlogin mosh start-stop-daemon daemonize hyperfine perf dbus-run-session dbus-launch xvfb-run
    catchsegv softlimit chpst cgexec ssh-keygen ssh-add gpg openssl rename prename mail sendmail
    mutt logrotate run-parts ld.so ld-linux qemu ldd cvs darcs fossil rpm dpkg-deb gimp inkscape
    convert magick ffmpeg pandoc tex latex pdflatex xelatex lualatex groff troff nroff tclsh wish
    duckdb julia octave gnuplot docker-compose podman-compose
    choom uclampset coresched pipesz systemd-inhibit systemd-cat x86_64 i386 i486 i586 i686 ppc64
    fakeroot-sysv fakeroot-tcp dumb-init tini gosu su-exec chronic ifne pee mispipe lckdo sponge
    vipe vidir zrun debconf run-mailcap see compose edit sshpass autossh cpulimit timelimit trickle
    torsocks torify tsocks vglrun gamemoderun ccache distcc sccache bear scan-build rr uftrace
    heaptrack kcov coverage envdir envuidgid setuidgid setlock pgrphack runsv watchexec nodemon
    reflex concurrently cross-env foreman honcho pm2 doppler aws-vault chamber sops apptainer
    singularity gfortran gccgo cpp c89 c99 tcc nasm yasm cpan cpanm r pydoc prove gdbserver swift
    dart zig flutter kotlin scala nim crystal wine wasmtime wasmer
    arch xcrun ip tc busctl gdbus dbus-send scriptlive enosys exch sem niceload sql env_parallel
    dtach abduco watchman watchmedo overmind hivemind goreman pdsh parallel-ssh salt salt-call
    ansible-console micromamba pixi rye pyenv rbenv nodenv goenv jenv volta fnm corepack pnpx lerna
    nx turbo rush wireit npm-run-all run-s run-p env-cmd envchain envconsul consul vault infisical
    dotenvx teller composer gem rails jbang coursier cs amm vite-node babel-node swc-node esno
    coffee limactl colima distrobox toolbox buildah runc crun minikube kind k3s microk8s tilt
    skaffold okteto telepresence pulumi cargo-nextest bmake remake meson scons xmake waf b2 bjam
    buck buck2 pants plz earthly dagger mount modprobe insmod
""")

_FIND = "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"
FIND_DANGERS: Final = tuple(_FIND.split())
"""Of `find`'s expression all words pass but these, which act; its actions are a closed set."""

READERS: Final[Mapping[str, Options]] = {
    "fd": Options("HIsigaLpdet0", _names("hidden no-ignore case-sensitive ignore-case glob type "
                  "extension max-depth min-depth exclude absolute-path follow full-path size")),
    "rg": Options("neivcCABlLowxFUPsSgtTuNHIqmMp.", _names("""
        line-number ignore-case smart-case case-sensitive count files files-with-matches glob type
        files-without-match fixed-strings word-regexp line-regexp invert-match multiline pcre2
        context after-context before-context max-count max-depth hidden no-ignore no-heading heading
        color json only-matching regexp sort no-filename with-filename stats trim iglob null vimgrep
        type-list count-matches no-line-number column quiet unrestricted text max-columns
    """)),
    "sort": Options("bdfghiMnRrVcCmsuzkt", _names("""
        ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort
        numeric-sort reverse version-sort check unique key field-separator stable zero-terminated
    """)),
    "tree": Options("adfLIPpsughDFvtrcnCA", _names("noreport dirsfirst prune gitignore")),
    "file": Options("biLhkNrs0", _names("brief mime mime-type mime-encoding dereference")),
    "date": Options("uRId", _names("utc universal iso-8601 rfc-3339 rfc-email date")),
    "ps": Options("AadefFGgHjLlMNopqTtuUwxZ", _names("""
        sort forest no-headers headers pid ppid user group format cols width
    """)),
    "less": Options("NSRFXinrsEeg"),
    "man": Options("akfw", _names("all apropos whatis where path")),
    "curl": Options("sSfLIvig", _names("""
        silent show-error fail location head include compressed max-time connect-timeout verbose
        retry ipv4 ipv6
    """)),
    "pytest": Options("qvxslkmrn", _names("""
        quiet verbose exitfirst maxfail tb lf last-failed ff failed-first nf new-first sw stepwise
        collect-only co no-header no-summary durations durations-min capture showlocals
        disable-warnings strict-markers ignore deselect numprocesses color no-cov
    """)),
}  # fmt: skip

FILTERS: Final[Mapping[str, Options]] = {
    "sed": Options("nErsuz", _names("quiet silent regexp-extended posix separate null-data "
                   "unbuffered debug sandbox")),
    "awk": Options(),
    "perl": Options(),
    "ruby": Options(),
    "yq": Options("rPCM"),
}  # fmt: skip
SCRIPT_LETTERS: Final[Mapping[str, str]] = {"sed": "e", "awk": "", "perl": "e", "ruby": "e"}
"""After a cluster that ends in one of these the next word is the script."""
FILTER_LETTERS: Final[Mapping[str, str]] = {"sed": "nErsuz", "perl": "nplaw", "ruby": "nplaw"}
OFFERED_FILTERS: Final = _names("sed awk yq")
"""Those whose script cannot make a program of a file's name."""

SHELLS: Final = _names("sh bash dash ash zsh ksh mksh fish csh tcsh")
SCRIPTS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(SHELLS, _names("-e -u -x -eu -ex -ux -eux -n -c -ec -euc")),
    **dict.fromkeys(("python", "pypy"), _names("-u -B -E -s -S -I -c")),
    "node": _names("-e"),
    **dict.fromkeys(
        (
            *("php", "lua", "luajit", "rscript", "java", "tsx", "ts-node", "ipython", "elixir"),
            *("escript", "groovy", "guile", "raku", "runghc", "runhaskell", "ocaml", "racket"),
            *("sbcl", "clisp", "bpython"),
        ),
        frozenset[str](),
    ),
}  # fmt: skip
"""Options that may stand before the script, or say that the next word is it."""
SCRIPT_VERBS: Final = _names("watch inspect debug run")
"""Words of an interpreter behind which the script stands: `tsx watch x.ts`."""

MODULES: Final = _names("pytest pip mypy ruff black isort flake8 pylint unittest")
"""What `python -m NAME` runs as a program of that name; the words of any other must be named."""

_GIT_LONG = """
    stat shortstat numstat name-only name-status oneline graph decorate no-decorate all branches
    tags remotes short porcelain branch long ignored untracked-files cached staged patch no-patch
    color no-color word-diff color-words abbrev abbrev-commit no-abbrev-commit pretty format date
    since until after before author committer grep reverse merges no-merges first-parent follow
    max-count skip diff-filter summary dirstat cc raw minimal patience histogram diff-algorithm
    ignore-all-space ignore-space-change ignore-blank-lines ignore-space-at-eol unified
    function-context find-renames find-copies no-renames exit-code quiet check full-index binary
    relative no-prefix text topo-order date-order author-date-order left-right cherry-mark cherry
    boundary simplify-by-decoration ancestry-path full-history show-toplevel git-dir git-common-dir
    is-inside-work-tree abbrev-ref verify symbolic-full-name show-current contains merged no-merged
    points-at sort count list others exclude-standard modified deleted stage full-name line-number
    ignore-case word-regexp files-with-matches files-without-match fixed-strings extended-regexp
    perl-regexp max-depth break heading and or not show-function invert-match heads is-ancestor
    all-match source no-ext-diff no-textconv version show-prefix show-cdup ahead-behind
    no-ahead-behind renames column no-column null message amend no-edit allow-empty update
    set-upstream dry-run verbose signoff soft mixed track no-track include-untracked stdout
    intent-to-add dirty always exact-match
"""
_NODE = Program(
    reads=_phrases("test, run *, ls, list, outdated"),
    takes=_phrases("run-script *, ci, build, lint"),
    options=Options("s", _names("json long all depth silent if-present parseable workspaces")),
)
_DOCKER = Program(
    reads=_phrases("""
        ps, images, inspect, logs, version, info, top, port, diff, container ls, container ps,
        container inspect, container logs, image ls, image inspect, image history, volume ls,
        volume inspect, network ls, network inspect, compose ps, compose logs, compose ls
    """),
    takes=_phrases("pull, stop, start, restart"),
    options=Options("aqnlst", _names("""
        all quiet format no-trunc latest last size tail since until timestamps filter services
        status
    """)),
)  # fmt: skip

SUBCOMMANDS: Final[Mapping[str, Program]] = {
    "git": Program(
        reads=_phrases("""
            status, log, diff, show, blame, annotate, shortlog, describe, rev-parse, rev-list,
            ls-files, ls-tree, cat-file, merge-base, name-rev, show-ref, for-each-ref, check-ignore,
            count-objects, diff-tree, diff-index, diff-files, whatchanged, cherry, range-diff, grep,
            version, stash list, stash show, worktree list, remote get-url
        """),
        takes=_phrases("""
            add, commit, checkout, switch, restore, branch, tag, mv, rm, reset, cherry-pick, revert,
            init, format-patch, push *, fetch *, stash push, stash pop, stash apply
        """),
        options=Options("aAbceghilmnpqrstuvwzLNSGUMCREFPW", _names(_GIT_LONG)),
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NODE),
    **dict.fromkeys(("docker", "podman"), _DOCKER),
    "cargo": Program(
        reads=_phrases("test, build, check, clippy, tree, metadata, version"),
        takes=_phrases("run, bench, fmt, doc"),
        options=Options("pqvj", _names("""
            release all workspace all-targets all-features no-default-features features lib bins
            tests examples doc no-run no-fail-fast package bin example test bench quiet verbose
            locked offline frozen jobs keep-going message-format nocapture exact test-threads
            include-ignored show-output skip check
        """)),
    ),
    "go": Program(
        reads=_phrases("test, build, vet, list, version, doc"),
        takes=_phrases("run *, fmt, mod tidy, mod download"),
        options=Options("", _names("""
            v n race short run count timeout bench benchmem cover failfast json parallel p cpu tags
            m f deps test skip list shuffle
        """), is_one_dash=True),
    ),
    "rustup": Program(reads=_phrases("show, check")),
    "pip": Program(
        reads=_phrases("list, show, freeze, check"),
        options=Options("vq", _names("outdated format local user not-required files verbose")),
    ),
    "uv": Program(
        reads=_phrases("pip list, pip show, pip freeze, pip check, pip tree"),
        options=Options("qv", _names("format outdated depth quiet verbose")),
    ),
    "poetry": Program(reads=_phrases("show, check"), options=Options("t")),
    "conda": Program(reads=_phrases("list, info"), options=Options("e")),
    "brew": Program(reads=_phrases("list, outdated"), options=Options("v")),
    "gh": Program(
        reads=_phrases("""
            repo view, repo list, pr list, pr view, pr diff, pr status, pr checks, issue list,
            issue view, issue status, run list, run view, release list, release view, workflow list,
            workflow view
        """),
        options=Options("RLqtsalc", _names("""
            repo limit json jq template state author label comments log log-failed assignee search
        """)),
    ),
    "kubectl": Program(
        reads=_phrases("get, describe, logs, version, top, explain, api-resources, config view"),
        options=Options("nAowlcp", _names("""
            namespace all-namespaces output watch selector show-labels no-headers sort-by container
            field-selector tail since previous timestamps
        """)),
    ),
    "helm": Program(reads=_phrases("list, status, history, version"), options=Options("nA")),
    "systemctl": Program(
        reads=_phrases("status, is-active, is-enabled, show, list-units, cat"),
        options=Options("alnp", _names("no-pager user all lines full")),
    ),
}  # fmt: skip

GIT_ACTING: Final[Mapping[str, str]] = {
    "push": r"[+:]",
    "fetch": r"[+:]",
    "branch": r"-[A-Za-z]*[CM]",
    "switch": r"-[A-Za-z]*C",
}
"""Beginnings of words beyond these subcommands that overwrite or remove what is another's, as
`--force` does: patterns."""

CURL_ASKS: Final = r"(?i)https?://[^{}\[\]/]*(?:/.*)?|(?!(?:ftp|dict|ldap|imap|smtp|pop3)\.)[\w.-]+(?::\d+)?(?:/.*)?"
"""Of the addresses of curl those that ask for something: a pattern. Others say things to any port:
their schemes stand before one slash too, are guessed from the host's name, or made by a glob."""

GIT_BEFORE: Final[Mapping[str, int]] = {"-C": 2, "--no-pager": 1, "--no-optional-locks": 1}
"""Options of git before its subcommand, with the number of words that each takes."""

_ALIASES: Final = {
    **dict.fromkeys(("gawk", "mawk", "nawk", "original-awk"), "awk"),
    **dict.fromkeys(("py", "pythonw", "jython"), "python"),
    "fdfind": "fd",
    "py.test": "pytest",
    "nodejs": "node",
    "jruby": "ruby",
    "rustc": "cc",
    "vimdiff": "vim",
    "rvim": "vim",
    "yarnpkg": "yarn",
    "bundler": "bundle",
    "ninja-build": "ninja",
}
_EXACT: Final = HARMLESS | EVALUATING
_STRICT: Final = frozenset().union(WHOLE, READERS, FILTERS, SCRIPTS, SUBCOMMANDS, ("find",))
_LOADERS: Final = ("ld-linux", "qemu-")
_VERSION: Final = r"[-.]?[0-9][0-9.]*\Z"
_BUILD: Final = r"[-.]?[0-9][0-9.]*(?:[.+_-].*)?\Z"


def canonical(word: str) -> str:
    """The name under which the tables have a program: no folder, case, version or make.

    `/usr/bin/python3.11`, `gsed`, `PERL5.36.exe` and `x86_64-linux-gnu-gcc-12` are what they are.
    What only resembles a name is never taken for one of those of which all words pass.
    """
    name = word.rsplit("/", 1)[-1].lower()
    name = _ALIASES.get(name, name)
    if name in _EXACT or name in _STRICT:
        return name
    if name.startswith(_LOADERS):
        return "ld-linux"
    return next((each for each in _spellings(name) if each in _STRICT), name)


def _spellings(name: str) -> list[str]:
    """What a name may be a longer spelling of, resolved through the aliases."""
    bare = name.removesuffix(".exe")
    plain = re.sub(_VERSION, "", bare)
    spellings = [
        bare,
        plain,
        re.sub(_BUILD, "", bare),
        plain.split(".", 1)[0],
        plain.rsplit("-", 1)[-1],
    ]
    spellings += [each.removeprefix("g") for each in (bare, plain)]
    spellings += [each.removesuffix("-static") for each in (bare, plain)]
    return [_ALIASES.get(each, each) for each in spellings]
