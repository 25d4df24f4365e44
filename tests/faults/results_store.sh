#!/usr/bin/env bash
# Several processes store at once, and processes die while they do: nothing is lost, nothing is there by half.
. tests/lib.sh
. tests/store.sh

# make_run N TESTS: a B3.89 folder of its own date and contents.
make_run() {
    local dir i folders=()
    dir=$(folder_of "$1")
    for ((i = 0; i < $2; i++)); do folders+=("$dir/v$((i % 4))/ctx_$((1024 + i / 4))_run0"); done
    mkdir -p "${folders[@]}" # once, not for each of 4,000 tests
    for ((i = 0; i < $2; i++)); do
        printf '{"ticket": "load", "context_len": %d, "wall_time_sec": 2, "exit_status": "OK", "timings": {"prefill_s": %d.5}}\n' \
            $((1024 + i / 4)) $((1 + $1)) >"${folders[i]}/perf.json"
    done
}

count() {
    sqlite3 -batch -noheader -cmd ".timeout 20000" "$DB" "SELECT count(*) FROM $1" 2>&1
}

folder_of() {
    printf '%s/in/%s/load\n' "$TMPDIR" "$(date -u -d "2026-01-01 +$1 days" +%F)"
}

many_runs() {
    local n
    for ((n = 0; n < 24; n++)); do make_run "$n" 40; done
}

four_processes() {
    local pids=() part n dirs failed=0 pid
    needs many_runs
    for part in 0 1 2 3; do
        dirs=()
        for ((n = part; n < 24; n += 4)); do dirs+=("$(folder_of "$n")"); done
        # The first folder of all goes to everyone: they race for it.
        ks ingest "$(folder_of 0)" "${dirs[@]}" >"$TMPDIR/part$part.log" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    ok "each of them exits 0, though the store did not exist" "$failed" "$(cat "$TMPDIR"/part*.log)"
    is "every run is stored once" "$(count run)" 24
    is "every test is stored once" "$(count test)" 960
    is "one of them stores the run that all were given" "$(cat "$TMPDIR"/part*.log | grep -c '20260101.*  stored')" 1
    exits "db check finds the store sound" 0 ks db check
}

# The store that processes die over: a scenario's own.
other_runs() {
    local n
    for ((n = 400; n < 430; n++)); do
        make_run "$n" 8
        ks ingest "$(folder_of "$n")" || return
    done
}

# stored_of DATE: tests and runs of that date
stored_of() {
    printf '%s/%s\n' "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date = '$1'")" "$(count "run WHERE date = '$1'")"
}

# While one process dies, again and again, another stores runs of its own.
sixty_kills() {
    local other victim small absent=0 whole=0 half=0 killed=0 i pid
    DB=$TMPDIR/killed.db
    make_run 0 40
    ks ingest "$(folder_of 0)" >/dev/null
    other_runs >"$TMPDIR/other.log" 2>&1 &
    other=$!
    make_run 100 4000
    make_run 101 40
    victim=$(folder_of 100)
    small=$(folder_of 101)
    for ((i = 0; i < 60; i++)); do
        sqlite3 -cmd ".timeout 20000" "$DB" "PRAGMA foreign_keys = ON; DELETE FROM run WHERE date BETWEEN '2026-04-11' AND '2026-04-12'"
        # Not through ks: the process itself must die, not a shell around it.
        "$KERNSWEEP" ingest "$small" "$victim" --db "$DB" >/dev/null 2>&1 &
        pid=$!
        # From before it opens the store until after it is done.
        sleep "$(printf '0.%03d' $((i * 5)))"
        kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
        wait "$pid" 2>/dev/null
        case $(stored_of 2026-04-11) in
        0/0) absent=$((absent + 1)) ;;
        4000/1) whole=$((whole + 1)) ;;
        *) half=$((half + 1)) ;;
        esac
        # The two make one transaction, in their order.
        case $(stored_of 2026-04-12) in
        0/0 | 40/1) ;;
        *) half=$((half + 1)) ;;
        esac
    done
    diag "absent $absent, whole $whole, killed $killed"
    is "each time the run is absent or whole" "$half" 0
    [ "$absent" -gt 0 ] && [ "$killed" -gt 5 ]
    ok "some are killed before they are done" $? "absent $absent, whole $whole, killed $killed"
    wait "$other"
    ok "another process that stores beside them exits 0" $? "$(tail -n 3 "$TMPDIR/other.log")"
    is "every test of the other process is stored" "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date > '2027-01-01'")" 240
    exits "db check finds the store sound" 0 ks db check
    exits "a last ingest of the run exits 0" 0 ks ingest "$victim"
    is "a last ingest stores the whole run" "$(stored_of 2026-04-11)" 4000/1
    is "a run that was stored before is unchanged" "$(count "test t JOIN run r ON r.id = t.run_id WHERE r.date < '2026-04-01'")" 40
    DB=$TMPDIR/results.db
}

# limited KILOBYTES COMMAND...: no file may become larger, as on a disk that is full.
limited() {
    try bash -c "ulimit -f $1; shift; exec \"\$@\"" - "$@"
}

full_disk() {
    DB=$TMPDIR/full.db
    make_run 0 40
    ks ingest "$(folder_of 0)" >/dev/null
    make_run 200 4000
    limited 100 "$KERNSWEEP" ingest --db "$DB" "$(folder_of 200)"
    exited "ingest exits 5" 5
    one_line "ingest prints one line" "$ERR"
    like "ingest names the limit and what to do" "$ERR" 'no file may be larger than 102400 bytes here: raise that limit'
    limited 8 "$KERNSWEEP" ingest --db "$TMPDIR/never.db" "$(folder_of 0)"
    exited "ingest into a new store exits 5" 5
    like "ingest into a new store names the limit" "$ERR" '^kernsweep: [^ ]*never.db: .*larger than 8192 bytes'
    DB=$TMPDIR/never.db exits "once there is room, the same command stores the run" 0 ks ingest "$(folder_of 0)"
    is "the run is not stored" "$(count "run WHERE date BETWEEN '2026-06-01' AND '2026-12-31'")" 0
    is "the run that was stored before is unchanged" "$(count test)" 40
    DB=$TMPDIR/results.db
}

nothing_to_ingest() {
    DB=$TMPDIR/none/none.db
    mkdir -p "$TMPDIR/empty"
    exits "a missing folder exits 2" 2 ks ingest "$TMPDIR/nothing"
    like "a missing folder is named" "$ERR" 'nothing: no such folder'
    exits "an empty folder exits 2" 2 ks ingest "$TMPDIR/empty" "$TMPDIR/nothing"
    is "each folder gets its line" "$(grep -c '^kernsweep: ' <<<"$ERR")" 2
    is "with --json, nothing was stored" "$(ks ingest "$TMPDIR/nothing" --json 2>/dev/null | jq -c .)" '[]'
    exits "import of a missing file exits 2" 2 ks import --map hyperfine "$TMPDIR/nothing"
    like "the file is named" "$ERR" 'nothing: cannot open'
    mkdir -p "$TMPDIR/torn"
    tar -xzf tests/fixtures/llama2-7b_h100/bundle.tar.gz -C "$TMPDIR/torn" --strip-components=2
    echo more >>"$TMPDIR/torn/events.jsonl"
    exits "a damaged bundle exits 2" 2 ks ingest "$TMPDIR/torn"
    like "what is damaged is named" "$ERR" 'torn/manifest.json: .*events.jsonl has [0-9]+ bytes'
    [ ! -e "$TMPDIR/none" ]
    ok "no store is made" $? "$(ls "$TMPDIR/none")"
    make_run 0 4
    exits "with a run beside it, the run is stored" 2 ks ingest "$TMPDIR/nothing" "$(folder_of 0)"
    is "the run is in the store" "$(count run)" 1
    DB=$TMPDIR/results.db
}

scenario "four processes that ingest at once" four_processes
scenario "sixty processes that are killed while they ingest" sixty_kills
scenario "ingest on a full disk" full_disk
scenario "ingest of what is no run" nothing_to_ingest
done_testing
