#!/usr/bin/env bash
# Brings a bare Debian or Ubuntu machine to where mydyno runs: a few system packages where they are
# missing, and a virtual environment with pinned, hash-checked Python packages and the built engine.
# No service is installed, started or touched. Safe to run again: what is there is left alone.
#
#   tools/setup.sh system [COMMAND=PACKAGE ...]   what only the system's package manager can give
#   tools/setup.sh python REQUIREMENTS            .venv with the packages of that file
#   tools/setup.sh mydyno                         build and install mydyno and its programs into .venv
#   tools/setup.sh tests                          compile mydyno and its tests, in Python and Rust
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv

say() { printf '==> %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$1" >&2; shift; for line in "$@"; do printf '  hint: %s\n' "$line" >&2; done; exit 3; }

find_python() {
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail 'Python 3.11 or newer was not found' 'install it (Debian 12: apt-get install python3)'
}

find_server() {
    [ -n "${MYDYNO_SERVER:-}" ] && { echo "$MYDYNO_SERVER"; return; }
    PATH="$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/local/mysql/bin" command -v mariadbd ||
        PATH="$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/local/mysql/bin" command -v mysqld || true
}

any_command() {
    local name names
    IFS='|' read -ra names <<<"$1"
    for name in "${names[@]}"; do
        # mkfs and mdadm are in sbin, which is not in an ordinary user's PATH.
        PATH="$PATH:/usr/sbin:/sbin" command -v "$name" >/dev/null && return
    done
    return 1
}

find_cargo() { PATH="$PATH:$HOME/.cargo/bin" command -v cargo || true; }

check_cargo() { # rustup's cargo fetches the toolchain of rust-toolchain.toml, a distribution's ignores that file
    local cargo
    cargo=$(find_cargo)
    [ -n "$cargo" ] || fail 'cargo was not found' 'install Rust 1.91 or newer (rustup has it)'
    "$cargo" --version >/dev/null || fail 'the toolchain of rust-toolchain.toml cannot be had' \
        'rustup fetches it: is the network there?' \
        'RUSTUP_TOOLCHAIN=stable takes the one that is installed, 1.91 or newer'
}

install_packages() {
    local sudo=()
    if ! command -v apt-get >/dev/null; then
        fail "missing here, and there is no apt-get to install them with: $*" \
            'install a MySQL or MariaDB server binary (no running service is needed), a C compiler and Python with venv by your own means, then run make again'
    fi
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "missing here: $*; installing them needs root, and there is no sudo" "as root: apt-get install $*"
        sudo=(sudo)
    fi
    say "installing system packages: $* (no service is started)"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        $(known_packages "$@") >/dev/null
}

known_packages() { # without those marked PACKAGE? that this release has not
    local package
    for package in "$@"; do
        if [ "${package%\?}" = "$package" ] || apt-cache show "${package%\?}" >/dev/null 2>&1; then
            echo "${package%\?}"
        else
            say "this release has no package ${package%\?}: what needs it is skipped" >&2
        fi
    done
}

system() {
    local missing=() python
    python=$(find_python)
    [ -n "$(find_server)" ] || missing+=(mariadb-server-core)
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    # Debian's python3 has no ensurepip unless python3-venv is there.
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        missing+=("$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')")
    command -v setpriv >/dev/null || missing+=(util-linux)
    # Each further word is COMMAND=PACKAGE or COMMAND|COMMAND=PACKAGE (any of them will do): what one
    # make target needs beyond running mydyno. PACKAGE? is one that newer releases have dropped.
    for word in "$@"; do
        any_command "${word%%=*}" || missing+=("${word#*=}")
    done
    [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
    check_cargo
}

python() {
    [ -x $venv/bin/python ] || { say "creating $venv"; "$(find_python)" -m venv $venv; }
    say "installing pinned Python packages ($1)"
    $venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$1"
}

mydyno() {
    say 'building mydyno-engine and installing mydyno'
    PATH="$PATH:$HOME/.cargo/bin" $venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --no-deps --no-build-isolation --editable .
}

tests() { # otherwise each of the processes that run the tests compiles all of them
    say 'compiling mydyno and its tests'
    # What does not compile, and what a check finds, is reported by `make test`.
    PATH="$PATH:$HOME/.cargo/bin" rust_tests >/dev/null 2>&1 &
    env --unset=PYTHONDONTWRITEBYTECODE $venv/bin/python -m pytest --collect-only --quiet -o addopts= >/dev/null || true
    $venv/bin/mypy >/dev/null 2>&1 || true # Its cache: most of the time goes into the libraries' types.
    wait $! || true
}

rust_tests() { # clippy compiles the libraries again, without code
    cargo test --quiet --locked --no-run
    cargo clippy --quiet --locked --all-targets
}

"$@"
