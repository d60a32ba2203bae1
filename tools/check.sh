#!/usr/bin/env bash
# Every check of the project, each announced; ends with how many passed, failed and were skipped.
#   tools/check.sh [--lint | --slow]
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0
failed=0
skipped=0
broken=()

check() {
    local name=$1
    shift
    printf '\n==> %s\n' "$name"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        broken+=("$name")
    fi
}

count() { # the number before a word in pytest's or cargo's closing lines, summed
    grep -Eo "[0-9]+ $1" "$2" | awk '{sum += $1} END {print sum + 0}'
}

run_counted() { # a test runner whose own counts enter the total
    local name=$1 pattern=$2 log
    shift 2
    log=$(mktemp)
    printf '\n==> %s\n' "$name"
    "$@" 2>&1 | tee "$log"
    tally "$name" "$pattern" "${PIPESTATUS[0]}" "$log"
}

tally() { # what a runner has written enters the total
    local name=$1 pattern=$2 status=$3 log=$4 closing
    closing=$(mktemp)
    grep -E "$pattern" "$log" >"$closing"
    local now_failed
    now_failed=$(count failed "$closing")
    now_failed=$((now_failed + $(count error "$closing")))
    passed=$((passed + $(count passed "$closing")))
    skipped=$((skipped + $(count skipped "$closing") + $(count ignored "$closing")))
    # A runner that broke before it could count is one failure.
    [ "$status" = 0 ] || [ "$now_failed" -gt 0 ] || now_failed=1
    failed=$((failed + now_failed))
    [ "$status" = 0 ] || broken+=("$name")
    rm -f "$log" "$closing"
}

run_beside() { # tests that compute, at a low priority, then those of `drivers`; ended as a whole by SIGTERM
    local status=0
    trap 'kill "$!" 2>/dev/null; exit 1' TERM
    nice -n 10 python -m pytest -m "$marks" --ignore=tests/live --ignore=tests/lab/stack --ignore=tests/machine --durations=5 &
    wait "$!" || status=1
    python -m pytest -m "$marks" "${drivers[@]}" --durations=10 &
    wait "$!" || status=1
    return "$status"
}

collect() { # mypy does not see the tests: a name that one of them imports and that has moved is found here
    local said
    said=$(python -m pytest --collect-only --quiet --no-summary -o addopts= 2>&1) || { tail -n 40 <<<"$said"; return 1; }
    tail -n 1 <<<"$said"
}

marks='not slow'
[ "${1:-}" = --slow ] && marks=''

check 'ruff: style' ruff check .
check 'ruff: format' ruff format --check .
check 'words' python tools/words.py
check 'mypy: types' mypy
check 'import-linter: layers' lint-imports
check 'pytest: every test can be collected' collect
check 'rustfmt' cargo fmt --all --check
check 'clippy' cargo clippy --quiet --locked --all-targets -- -D warnings
if [ "${1:-}" != --lint ]; then
    run_counted 'cargo test' '^test result:' cargo test --quiet --locked
    last_line='^=+ .* in [0-9.]+s'
    # Tests of servers, disks and hosts mostly wait, so two rows of tests run beside each other: those that
    # build, kill and look at the machine; and those that only compute, then those that only drive a server.
    drivers=(tests/live/test_{atis,datasets,engine*,external,load_command,order_entry,slap,smack,sql_bench,workloads}.py)
    beside=$(mktemp)
    run_beside >"$beside" 2>&1 &
    others=$!
    trap 'kill "$others" 2>/dev/null' EXIT
    run_counted 'pytest: servers, disks and hosts' "$last_line" python -m pytest -m "$marks" tests/live tests/lab/stack tests/machine "${drivers[@]/#/--ignore=}" --durations=10
    printf '\n==> pytest: the rest and the workloads, which ran beside them\n'
    wait "$others"
    status=$?
    trap - EXIT
    cat "$beside"
    tally 'pytest: the rest and the workloads' "$last_line" "$status" "$beside"
fi

printf '\n'
for name in "${broken[@]}"; do printf 'FAILED: %s\n' "$name"; done
[ "$skipped" = 0 ] || printf 'Why skipped: see the SKIPPED lines above; slow tests run under `make test-all`.\n'
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
