#!/usr/bin/env bash
# Several processes store at once, and processes die while they do: nothing is lost, nothing is there by half.
# timeout: 600
. tests/lib.sh

ks() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/results.db"
}

# make_run N TESTS: a B3.89 folder of its own date and contents.
make_run() {
    local dir i
    dir=$TMPDIR/in/$(date -u -d "2026-01-01 +$1 days" +%F)/load
    for ((i = 0; i < $2; i++)); do
        mkdir -p "$dir/v$((i % 4))/ctx_$((1024 + i / 4))_run0"
        printf '{"ticket": "load", "context_len": %d, "wall_time_sec": 2, "exit_status": "OK", "timings": {"prefill_s": %d.5}}\n' \
            $((1024 + i / 4)) $((1 + $1)) >"$dir/v$((i % 4))/ctx_$((1024 + i / 4))_run0/perf.json"
    done
}

count() {
    sqlite3 -batch -noheader -cmd ".timeout 20000" "$TMPDIR/results.db" "SELECT count(*) FROM $1" 2>&1
}

for ((n = 0; n < 24; n++)); do make_run "$n" 40; done
pids=()
for part in 0 1 2 3; do
    dirs=()
    for ((n = part; n < 24; n += 4)); do dirs+=("$TMPDIR/in/$(date -u -d "2026-01-01 +$n days" +%F)/load"); done
    # The first folder of all goes to everyone: they race for it.
    ks ingest "$TMPDIR/in/2026-01-01/load" "${dirs[@]}" >"$TMPDIR/part$part.log" 2>&1 &
    pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
ok "four processes store at once, from a store that was not there" "$failed" "$(cat "$TMPDIR"/part*.log)"
is "every run is there once" "$(count run)" 24
is "with every test" "$(count test)" 960
is "one of them stored what all had" "$(cat "$TMPDIR"/part*.log | grep -c '20260101.*  stored')" 1
exits "the store is sound" 0 ks db check

# While one process dies, again and again, another stores runs of its own.
other_runs() {
    for ((n = 400; n < 430; n++)); do
        make_run "$n" 8
        ks ingest "$TMPDIR/in/$(date -u -d "2026-01-01 +$n days" +%F)/load" || return
    done
}
other_runs >"$TMPDIR/other.log" 2>&1 &
other=$!
make_run 100 4000
make_run 101 40
victim=$TMPDIR/in/$(date -u -d "2026-01-01 +100 days" +%F)/load
small=$TMPDIR/in/$(date -u -d "2026-01-01 +101 days" +%F)/load
absent=0 whole=0 half=0 killed=0
for ((i = 0; i < 60; i++)); do
    sqlite3 -cmd ".timeout 20000" "$TMPDIR/results.db" "PRAGMA foreign_keys = ON; DELETE FROM run WHERE date BETWEEN '2026-04-11' AND '2026-04-12'"
    # Not through ks: the process itself must die, not a shell around it.
    "$KERNSWEEP" ingest "$small" "$victim" --db "$TMPDIR/results.db" >/dev/null 2>&1 &
    pid=$!
    # From before it opens the store until after it is done.
    sleep "$(printf '0.%03d' $((i * 5)))"
    kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
    wait "$pid" 2>/dev/null
    case $(count "test t JOIN run r ON r.id = t.run_id WHERE r.date = '2026-04-11'")/$(count "run WHERE date = '2026-04-11'") in
    0/0) absent=$((absent + 1)) ;;
    4000/1) whole=$((whole + 1)) ;;
    *) half=$((half + 1)) ;;
    esac
    # The two make one transaction, in their order.
    case $(count "test t JOIN run r ON r.id = t.run_id WHERE r.date = '2026-04-12'")/$(count "run WHERE date = '2026-04-12'") in
    0/0 | 40/1) ;;
    *) half=$((half + 1)) ;;
    esac
done
is "killed at sixty moments, a run is absent or whole (absent $absent, whole $whole, killed $killed)" "$half" 0
[ "$absent" -gt 0 ] && [ "$killed" -gt 5 ]
ok "some were killed before they were done" $? "absent $absent, whole $whole, killed $killed"
wait "$other"
ok "another process stored beside them" $? "$(tail -n 3 "$TMPDIR/other.log")"
is "all of its own" "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date > '2027-01-01'")" 240
exits "the store is sound after all of them" 0 ks db check
exits "and takes the run" 0 ks ingest "$victim"
is "whole" "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date = '2026-04-11'")" 4000
is "the others never moved" "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date < '2026-04-01'")" 960

# A disk that is full, as a limit on file size.
cp "$TMPDIR/results.db" "$TMPDIR/full.db"
make_run 200 4000
try bash -c "ulimit -f 100; trap '' XFSZ
    exec '$KERNSWEEP' ingest --db '$TMPDIR/full.db' '$TMPDIR/in/$(date -u -d "2026-01-01 +200 days" +%F)/load'"
is "a full disk is exit 5" "$RC" 5
one_line "in one line" "$ERR"
is "and nothing half" "$(sqlite3 "$TMPDIR/full.db" "SELECT count(*) FROM run WHERE date BETWEEN '2026-06-01' AND '2026-12-31'")" 0
done_testing
