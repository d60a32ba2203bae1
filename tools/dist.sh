#!/usr/bin/env bash
# Builds what is given to others, in dist/: the source archive, and from it the wheel, which holds mydyno and its
# static programs, so that installing it needs no Rust.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=$PWD/target PATH="$PATH:$HOME/.cargo/bin"
python=$PWD/.venv/bin/python
rm -rf dist
mkdir dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" setup.py --quiet egg_info --egg-base "$work" sdist --dist-dir dist
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist dist/mydyno-*.tar.gz
"$python" -m zipfile --extract dist/mydyno-*.whl "$work/wheel"
for program in mydyno-engine mydyno-agent; do
    if LC_ALL=C ldd "$work"/wheel/*.data/scripts/$program 2>&1 | grep -q '=>'; then
        echo "dist: $program is not static" >&2
        exit 1
    fi
done
ls -l dist
