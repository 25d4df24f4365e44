# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other files of tests/soak
# invariants.sh: what must hold after every night of `make soak`, and what must not have grown at its end.

# violated TEXT: goes on with the next night, so that one soak finds more than one defect.
violated() {
    violations=$((violations + 1))
    bad=1
    printf 'VIOLATED  night %d (%s, %s): %s\n' "$night" "$fault${also:++$also}" "$way" "$1" | tee -a "$dir/violations"
}

sql() { as sqlite3 -batch -noheader "$db" "$1" 2>&1; }

# nothing TEXT LINES: there must be none.
nothing() { [ -z "$2" ] || violated "$1: $(head -n 3 <<<"$2" | tr '\n' ' ')"; }

# Every run in the store has the four tests of its plan, each once; what is OK has the number that its workload printed.
check_store() {
    nothing "runs without exactly their 4 tests" "$(sql "SELECT r.run_id || ' ' || count(t.id) FROM run r LEFT JOIN test t ON t.run_id = r.id
        LEFT JOIN series s ON s.id = t.series_id WHERE r.id > $seen_run AND r.purpose = 'sweep' AND r.status <> 'BLOCKED' GROUP BY r.id
        HAVING count(t.id) <> 4 OR count(DISTINCT s.variant || s.context_len) <> 4")"
    nothing "OK tests with another number than they printed" "$(sql "SELECT r.run_id, s.variant, s.context_len, t.prefill_s FROM test t
        JOIN run r ON r.id = t.run_id JOIN series s ON s.id = t.series_id WHERE r.id > $seen_run AND t.status = 'OK' AND t.prefill_s IS NOT
        CAST('0.' || CASE s.variant WHEN 'a' THEN '6' ELSE '7' END || s.context_len AS REAL)")"
    nothing "runs stored twice" "$(sql "SELECT run_id FROM run GROUP BY run_id HAVING count(*) > 1")"
}

# A night that did not end is ended by the next one, in its own folder. A run may be blocked when it goes on after its executor was
# killed: it has tests to report.
check_reports() {
    local reports stored
    reports=$(find "$dir/desk/nights" -name report.html | wc -l) stored=$(sql "SELECT count(*) FROM run r WHERE purpose = 'sweep' AND
        (status <> 'BLOCKED' OR EXISTS (SELECT 1 FROM test t WHERE t.run_id = r.id AND t.status <> 'SKIPPED'))")
    [ "$reports" = "$stored" ] || violated "$reports reports of $stored stored nights"
}

check_sound() {
    as "$dir/bin/kernsweep" db check --db "$db" >"$dir/check.log" 2>&1 || violated "db check: $(tail -n 1 "$dir/check.log")"
}

# Its first bytes suffice: no part of it may be found.
check_secret() {
    local found
    found=$(grep -rlaF -- "${secret:0:10}" "$dir/desk" "$dir/home" "$log" "$dir/tmp" 2>/dev/null)
    found+=$(find "$dir/desk" -name "*${secret:0:10}*")
    nothing "the secret is outside" "$found"
}

check_left() {
    until_true 10 nobody_left || nothing "processes left" "$(for pid in $(pids_left); do echo "$pid: $(tr '\0' ' ' <"/proc/$pid/cmdline");"; done)"
    kill_left
    # podman keeps folders of its own, once a user, made when a node is asked what containers it can run.
    nothing "files left in TMPDIR" "$(find "$dir/tmp" -mindepth 1 ! -path '*/tmp/podman-run-*' ! -path '*/tmp/containers-user-*' \
        ! -path '*/tmp/storage-run-*')"
    nothing "partial bundles left" "$(find "$dir/desk/artifacts" -maxdepth 3 -name '*.partial*' 2>/dev/null)"
    nothing "half a tree left on the node" "$(find "$dir/disk/work" -maxdepth 2 -name '.tmp.*' 2>/dev/null)"
}
nobody_left() { [ -z "$(pids_left)" ]; }

# All that any test began belongs to a run in the store; more starts than tests only where something was killed.
check_starts() {
    nothing "started runs that the store does not have" "$(comm -23 <(cut -d ' ' -f 1 "$dir/marks/starts" | sort -u) <(sql 'SELECT run_id FROM run' | sort))"
    local twice
    twice=$(sort "$dir/marks/starts" | uniq -d)
    [ "$(grep -c . <<<"$twice")" -le "$killed" ] || violated "tests started twice without a killed executor: $(tail -n 2 <<<"$twice" | tr '\n' ' ')"
}

# Builds and sources are kept for days, not for nights.
files_of_runs() {
    find "$dir/disk/work" \( -path '*/work/build' -o -path '*/work/src' -o -path '*/work/tree' -o -path '*/work/seals' \) -prune -o -print 2>/dev/null | wc -l
}

# measure: a line per clean night: KiB and descriptors of harness and executor, files and KiB of the node's folder, KiB of the store
measure() {
    local harness_look executor_look
    harness_look=$(cat "$dir/marks/harness" 2>/dev/null) executor_look=$(cat "$dir/marks/executor" 2>/dev/null)
    [ -n "$harness_look" ] && [ -n "$executor_look" ] || return 0
    printf '%s %s %s %s %s %s\n' "$harness_look" "$executor_look" "$(files_of_runs)" \
        "$(du -sk "$dir/disk/work" 2>/dev/null | cut -f 1)" "$(($(stat -c %s "$db") / 1024))" "$(find /run/lock "$dir/desk/nightly" -type f 2>/dev/null | wc -l)" >>"$dir/measured"
}

# grown NAME COLUMN TENTHS STATISTIC: the last quarter against the second one (retention has begun by then). Of an executor that may
# just be opening what it samples, the least descriptors count.
grown() {
    local count first last
    count=$(wc -l <"$dir/measured")
    [ "$count" -ge 40 ] || return 0
    first=$(sed -n "$((count / 4 + 1)),$((count / 2))p" "$dir/measured" | cut -d ' ' -f "$2" | $4)
    last=$(tail -n "$((count / 4))" "$dir/measured" | cut -d ' ' -f "$2" | $4)
    printf '%-34s %8d to %8d\n' "$1" "$first" "$last"
    [ $((last * 10)) -le $((first * $3)) ] || violated "$1 grew from $first to $last"
}
least() { sort -n | head -n 1; }
middle() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

check_growth() {
    [ -s "$dir/measured" ] || return 0
    grown "harness: resident KiB at its peak" 1 11 middle
    grown "harness: descriptors" 2 10 middle
    grown "executor: resident KiB at its peak" 3 11 middle
    grown "executor: descriptors" 4 12 least
    grown "files in the node's folder" 5 12 middle
    grown "KiB in the node's folder" 6 12 middle
    grown "lock and state files" 8 10 middle
    awk '{ if (NR == 1) first = $7; last = $7 } END { if (NR > 1) printf "store: KiB per clean night            %.1f\n", (last - first) / (NR - 1) }' "$dir/measured"
}
