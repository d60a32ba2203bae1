#!/usr/bin/env bash
# Checks of the project, each announced; ends with how many passed, failed and were skipped.
#   tools/check.sh             all of them but the slow tests
#   tools/check.sh --slow      these, too
#   tools/check.sh --lint      style, types and layers
#   tools/check.sh --changed   style, types and layers, and the tests of what has changed since this last passed
set -uo pipefail
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE # Tests start mydyno thousands of times: each would compile it again.
results=$(mktemp -d)
rows=() # What runs in the background: process groups.
trap 'for row in "${rows[@]}"; do kill -- -"$row" 2>/dev/null; done; rm -rf "$results"' EXIT

check() { # NAME COMMAND...: one check, which passes or fails
    printf '\n==> %s\n' "$1"
    if "${@:2}"; then record 1 0 0 ''; else record 0 1 0 "$1"; fi
}

record() { # PASSED FAILED SKIPPED NAME-OF-WHAT-FAILED; all rows write to one file
    printf '%d %d %d %s\n' "$@" >>"$results/counts"
}

count() { # the number before a word in pytest's or cargo's closing lines, summed
    grep -Eo "[0-9]+ $1" "$2" | awk '{sum += $1} END {print sum + 0}'
}

run_counted() { # NAME PATTERN COMMAND...: a test runner whose own counts enter the total
    local name=$1 pattern=$2 log closing status broken=''
    log=$(mktemp -p "$results")
    closing=$(mktemp -p "$results")
    printf '\n==> %s\n' "$name"
    "${@:3}" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    grep -E "$pattern" "$log" >"$closing"
    local now_failed
    now_failed=$(($(count failed "$closing") + $(count error "$closing")))
    # A runner that broke before it could count is one failure.
    [ "$status" = 0 ] || [ "$now_failed" -gt 0 ] || now_failed=1
    [ "$status" = 0 ] || broken=$name
    record "$(count passed "$closing")" "$now_failed" \
        $(($(count skipped "$closing") + $(count ignored "$closing"))) "$broken"
}

run_pytest() { # NAME ARGUMENTS...
    run_counted "$1" '^=+ .* in [0-9.]+s' python -m pytest --durations=10 "${@:2}"
}

run_changed() { # PATH...: those of them that start no server, if there are any
    python -m pytest -m 'not slow and not live' -n "$cpus" --dist loadfile "${waiting[@]/#/--ignore=}" "$@"
    local status=$?
    [ "$status" = 5 ] || return "$status"
}

collect() { # mypy does not see the tests: a name that one of them imports and that has moved is found here
    local output
    output=$(python -m pytest --collect-only --quiet --no-summary -o addopts= 2>&1) || { tail -n 40 <<<"$output"; return 1; }
    tail -n 1 <<<"$output"
}

style() {
    check 'ruff: style' ruff check .
    check 'ruff: format' ruff format --check .
    check 'words' python tools/words.py
    check 'crates: no circles of files' python tools/check_crates.py
    check 'rustfmt' cargo fmt --all --check
}

types_and_layers() {
    check 'mypy: types' mypy
    check 'import-linter: layers' lint-imports
}

clippy() {
    check 'clippy' cargo clippy --quiet --locked --all-targets -- -D warnings
}

in_background() { # COMMAND...: a row of checks next to those in the foreground, at a low priority
    set -m # A process group, which the trap ends as a whole.
    nice_row "$@" >"$results/row${#rows[@]}" 2>&1 &
    rows+=("$!")
    set +m
}

nice_row() {
    renice -n $(($(nice) + 5)) -p "$BASHPID" >/dev/null
    "$@"
}

join() { # waits for these rows and shows what they wrote
    local number
    for number in "${!rows[@]}"; do
        wait "${rows[number]}"
        cat "$results/row$number"
    done
    rows=()
}

# Tests that start servers, guests and disks mostly wait: more of them run at the same time than there are
# CPUs. What computes runs next to them and takes the CPUs that they leave.
waiting=(tests/live tests/lab/stack tests/machine tests/lab/trial/test_self_check.py
    tests/cli/test_hostile_servers.py tests/server/access/test_hostile_servers.py)

computing_tests() { # MARKS
    run_pytest 'pytest: what computes' -m "$1" -n "$cpus" --dist loadfile "${waiting[@]/#/--ignore=}"
}

static_checks() {
    types_and_layers
    clippy
    run_counted 'cargo test' '^test result:' cargo test --quiet --locked
}

cpus=$(nproc)
[ "$cpus" -le 8 ] || cpus=8
case ${1:-} in
--lint)
    style
    types_and_layers
    clippy
    check 'pytest: every test can be collected' collect
    ;;
--changed)
    tree=$(python tools/changed_tests.py --tree)
    style
    in_background types_and_layers
    mapfile -t changed < <(python tools/changed_tests.py)
    if [ ${#changed[@]} = 0 ]; then
        printf '\n==> no test belongs to what has changed\n'
    else
        run_counted 'pytest: what has changed' '^=+ .* in [0-9.]+s' run_changed "${changed[@]}"
    fi
    mapfile -t crates < <(python tools/changed_tests.py --crates)
    if [ ${#crates[@]} != 0 ]; then
        clippy
        run_counted 'cargo test' '^test result:' cargo test --quiet --locked "${crates[@]/#/--package=mydyno-}"
    fi
    join
    awk '{failed += $2} END {exit failed != 0}' "$results/counts" && python tools/changed_tests.py --passed "$tree"
    ;;
*)
    style
    in_background static_checks
    in_background computing_tests 'not slow'
    run_pytest 'pytest: servers, disks and hosts' -m 'not slow' -n $((cpus + 2)) --dist loadgroup "${waiting[@]}"
    join
    if [ "${1:-}" = --slow ]; then
        # One after the other: next to emulated guests, a simulation gets a fifth of a CPU.
        computing_tests slow
        run_pytest 'pytest: slow tests of servers, disks and hosts' \
            -m slow -n $((cpus + 1)) --dist loadgroup "${waiting[@]}"
    fi
    ;;
esac

printf '\n'
awk '{
    passed += $1; failed += $2; skipped += $3
    $1 = $2 = $3 = ""; sub(/^ +/, "")
    if ($0 != "") print "FAILED: " $0
} END {
    if (skipped) print "Why skipped: see the SKIPPED lines above; slow tests run under `make test-all`."
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed != 0
}' "$results/counts"
