#!/usr/bin/env bash
# Pins requirements/*.in with hashes of every published file, without a registry's address.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet pip-tools
for name in runtime build dev; do
    "$tools/bin/pip-compile" --quiet --upgrade --generate-hashes --strip-extras --allow-unsafe --no-header \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file "requirements/$name.txt" "requirements/$name.in"
done
