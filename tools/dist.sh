#!/usr/bin/env bash
# Builds what is given to others, in dist/: the source archive, and a wheel with mydyno and its static programs, so
# that installing it needs no Rust.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"
python=$PWD/.venv/bin/python
rm -rf dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In a folder of its own: what an earlier build has left in build/ does not get into the wheel.
"$python" setup.py --quiet egg_info --egg-base "$work" sdist --dist-dir dist \
    build --build-base "$work/build" bdist_wheel --bdist-dir "$work/wheel" --dist-dir dist
"$python" -m zipfile --extract dist/mydyno-*.whl "$work/unpacked"
for program in mydyno-engine mydyno-agent; do
    if LC_ALL=C ldd "$work"/unpacked/*.data/scripts/$program 2>&1 | grep -q '=>'; then
        echo "dist: $program is not static" >&2
        exit 1
    fi
done
ls -l dist
