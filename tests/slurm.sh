# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/slurm.sh: a private Slurm of two nodes for a script, and sweeps through it. A script sources tests/lib.sh and this,
# and calls slurm_setup; the Slurm ends with the script.

. tests/store.sh

FIXTURES=tests/fixtures/slurm
WORK=$TMPDIR/work
MARKS=$TMPDIR/marks
SLURM=

# Skips the whole script, with the reason, if no Slurm can run here.
slurm_setup() {
    local why
    why=$(scripts/slurm-loopback can) || skip_all "$why"
    SLURM=$(mktemp -d /tmp/kernsweep-slurm.XXXXXX) # sockets have short names
    trap slurm_teardown EXIT
    mkdir -p "$MARKS"
    scripts/slurm-loopback start "$SLURM" 2>"$TMPDIR/slurm.err" || {
        why=$(cat "$TMPDIR/slurm.err" "$SLURM"/log/*.log | grep -iE 'loopback|fatal|error' | head -n 5)
        ok "a Slurm starts" 1 "$why"
        done_testing
        exit 1
    }
    export SLURM_CONF=$SLURM/slurm.conf
    plan_with . "$TMPDIR/plan.json"
}

slurm_teardown() {
    [ -n "$SLURM" ] || return 0
    : >"$MARKS/go"
    scripts/slurm-loopback stop "$SLURM"
    rm -rf "$SLURM"
    SLURM=
}

# plan_with FILTER FILE: the fixture's plan, changed by a jq filter.
plan_with() {
    jq --arg workdir "$WORK" --arg marks "$MARKS" --arg dir "$PWD/$FIXTURES" '
        .workdir = $workdir | .source.dir = $dir | .env.MARKS = $marks | '"$1" "$FIXTURES/plan.json" >"$2"
}

# sweep TAG ARGUMENT...: a run in the foreground
sweep() {
    ks run "${@:2}" --tag "$1" --artifacts "$TMPDIR/artifacts"
}

# start TAG ARGUMENT...: the same in the background; its pid is RUN_PID, its stderr $TMPDIR/TAG.err. Set KEEP_MARKS if another
# one is running.
start() {
    [ -n "${KEEP_MARKS:-}" ] || rm -f "$MARKS"/*
    "$KERNSWEEP" run "${@:2}" --db "$TMPDIR/results.db" --tag "$1" --artifacts "$TMPDIR/artifacts" \
        >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" </dev/null &
    RUN_PID=$!
}

# ends NAME CODE: checks how the run in the background ends
ends() {
    local rc=0
    wait "$RUN_PID" || rc=$?
    [ "$rc" = "$2" ]
    ok "$1" $? "exit status $rc, want $2"$'\n'"$(cat "$TMPDIR"/*.err | tail -n 15)"
}

go() {
    : >"$MARKS/go"
}

# on NODE [VARIANT.CONTEXT.REPETITION]: whether such a test has started there
on() {
    compgen -G "$MARKS/on.$1.${2:-*}.*" >/dev/null
}

# twice VARIANT.CONTEXT.REPETITION: whether two attempts at the test have started
twice() {
    [ "$(compgen -G "$MARKS/on.*.$1.*" | wc -l)" = 2 ]
}

# run_id TAG: the id of the run, once it has started
run_id() {
    sed -n 's/^run \([^ ]*\) started$/\1/p' "$TMPDIR/$1.err"
}

bundle_of() {
    find "$TMPDIR/artifacts" -mindepth 2 -maxdepth 2 -type d -name "*_$1"
}

# tests_of TAG COLUMN...: of every test in the store, in order
tests_of() {
    local IFS=,
    sql "SELECT ${*:2} FROM test t JOIN series s ON s.id = t.series_id JOIN run r ON r.id = t.run_id
         WHERE r.tag = '$1' ORDER BY s.variant, s.context_len, t.repetition"
}

# live_jobs [NAME]: ids of the array tasks or jobs that have not ended
live_jobs() {
    squeue --noheader --array --states=PENDING,RUNNING,COMPLETING ${1:+--name="$1"} --format=%i | sort | xargs
}

no_live_jobs() {
    [ -z "$(live_jobs "$1")" ]
}

# journal_has TAG JQ: whether the journal of the unfinished run has an event that matches
journal_has() {
    [ -n "$(run_id "$1")" ] && jq -e "select($2)" "$WORK/runs/$(run_id "$1")/events.jsonl" | grep -q .
}

# journal_whole BUNDLE: its events are numbered without a gap, and each test ended once
journal_whole() {
    jq -es '(map(.seq) == [range(1; length + 1)])
        and ([.[] | select((.event == "TEST_END" and .retry == false) or .event == "TEST_SKIP") | .test_index]
            | length == (unique | length)) and (last.event == "SUITE_END")' "$1/events.jsonl" >/dev/null
}
