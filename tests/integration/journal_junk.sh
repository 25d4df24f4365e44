#!/usr/bin/env bash
# Tests that write to their run's journal, or its job, lose neither the run nor the next night.
# shellcheck disable=SC2016 # the tests' shells expand these
. tests/lib.sh
. tests/pipeline.sh

# junk_plan FILE SHELL: a plan whose tests append what SHELL prints to events.jsonl.
junk_plan() {
    jq -n --arg work "$TMPDIR/work" --arg junk "$2" '{schema: "kernsweep.plan/1", ticket: "junk", node: "local", workdir: $work,
        variants: [{name: "a", run: ["sh", "-c",
            ("{ " + $junk + "; } >>\"$(dirname \"$(dirname \"$PWD\")\")/events.jsonl\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.001}\"; sleep 0.1")]}],
        contexts: [1], repetitions: 2, timeouts: {default: 30}}' >"$1"
}

# survives TAG SHELL
survives() {
    junk_plan "$TMPDIR/$1.json" "$2"
    exits "the run is collected and stored" 0 ks_run "$TMPDIR/$1.json" --tag "$1"
    is "the store has all of its tests" "$(sql "SELECT r.status, count(*) FROM run r JOIN test t ON t.run_id = r.id WHERE r.tag = '$1' AND t.status = 'OK' GROUP BY 1")" "COMPLETE|2"
}

# generator: $TMPDIR/junk JOURNAL SEED puts seven pieces of junk into the journal: bytes, pieces of its own lines, changed
# and repeated events, with and without an end, at its end or at any other line of it.
generator() {
    cat >"$TMPDIR/junk" <<'END'
#!/usr/bin/env bash
journal=$1
RANDOM=$2
bytes() {
    awk -v seed="$RANDOM" -v n="$((RANDOM % 3000))" 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%c", 1 + int(rand() * 255) }'
}
line() {
    shuf -n 1 --random-source=<(bytes; bytes; yes "$RANDOM") "$journal"
}
piece() {
    local text
    text=$(line | tr -d '\0')
    case $((RANDOM % 6)) in
    0) bytes ;;
    1) printf '%s' "${text:0:RANDOM % 200}" ;;
    2) printf '%s' "${text:RANDOM % 200}" ;;
    3) sed "s/[0-9]/$((RANDOM % 10))/g" <<<"$text" ;;
    4) printf '%s\n%s\n' "$text" "$text" ;;
    5) printf '{"seq": %s, "event": "%s", "variant": [], "ctx": {}}' "$((RANDOM - 16384))" "$(line | cut -c 30-40 | tr -dc 'A-Z_')" ;;
    esac
    ((RANDOM % 2)) && echo
}
for _ in 1 2 3 4 5 6 7; do
    if ((RANDOM % 3)); then
        piece >>"$journal"
    else
        at=$((1 + RANDOM % 5))
        { head -n "$at" "$journal"; piece; echo; tail -n "+$((at + 1))" "$journal"; } >"$journal.new" 2>/dev/null
        cat "$journal.new" >"$journal"
        rm "$journal.new"
    fi
done 2>/dev/null
END
    chmod 755 "$TMPDIR/junk"
}

stored_tests() {
    sql "SELECT r.status, count(*) FROM run r JOIN test t ON t.run_id = r.id WHERE r.tag = '$1' GROUP BY 1"
}

# generated HOW SEED...: what the tests write differs by the seed, and nothing that is said of their times is sure; but each
# run is collected, in the way that HOW names, and the next one measures.
generated() {
    local how=$1 seed tag run
    shift
    [ -e "$TMPDIR/junk" ] || generator
    for seed in "$@"; do
        tag=$how-$seed
        junk_plan "$TMPDIR/$tag.json" "$(printf "'%s' \"\$(dirname \"\$(dirname \"\$PWD\")\")/events.jsonl\" %s\"\$KERNSWEEP_REPETITION\"" "$TMPDIR/junk" "$seed")"
        case $how in
        follow) try ks_run "$TMPDIR/$tag.json" --tag "$tag" ;;
        attach)
            run=$(ks_run "$TMPDIR/$tag.json" --tag "$tag" --detach 2>/dev/null)
            try "$KERNSWEEP" attach "$run" --db "$DB"
            ;;
        pull)
            run=$(ks_run "$TMPDIR/$tag.json" --tag "$tag" --detach 2>/dev/null)
            for _ in {1..100}; do
                "$KERNSWEEP" status "$run" --db "$DB" --json 2>/dev/null | grep -q '"complete"' && break
                sleep 0.2
            done
            "$KERNSWEEP" pull "$run" --db "$DB" --output "$TMPDIR/artifacts_remote/pulled/of_$tag" 2>/dev/null
            try ks ingest "$TMPDIR/artifacts_remote/pulled/of_$tag"
            ;;
        esac
        like "seed $seed: the run is collected" "$RC" '^[01]$'
        is "seed $seed: it is stored with its tests" "$(stored_tests "$tag")" "COMPLETE|2"
        exits "seed $seed: its bundle can be ingested elsewhere" 0 "$KERNSWEEP" ingest "$(bundle_of "$tag")" --db "$TMPDIR/$tag.db"
    done
    junk_plan "$TMPDIR/clean.json" true
    exits "the next run measures" 0 ks_run "$TMPDIR/clean.json" --tag "after-$how"
}

told_once() {
    survives told 'echo junk; echo more junk'
    is "a note quotes the first line" "$(grep -c 'has a line that is not an event' <<<"$OUT$ERR")" 1
    like "and the end has their number" "$OUT$ERR" '4 lines of events.jsonl are not events'
    passes "the bundle keeps them" grep -qx 'more junk' "$(bundle_of told)/events.jsonl"
}

# Each name of the journal in a test of the plans above.
journal='"$(dirname "$(dirname "$PWD")")/events.jsonl"'
# The test's executor: the parent of its keeper.
executor='"$(ps -o ppid= -p "$PPID" | tr -d " ")"'

# ended_by_a_test SHELL: the first test does this and kills its executor.
ended_by_a_test() {
    survives "$1" "[ -e $TMPDIR/$1.once ] || { touch $TMPDIR/$1.once; $2; kill -9 $executor; exec sleep 20; }"
}

scenario "words" told_once
scenario "a line without an end" survives half 'printf "no end"'
scenario "half an object" survives object 'echo "{\"seq\":"'
scenario "an object that is no event" survives none 'echo "{\"a\": 1}"'
scenario "an event that nobody knows" survives newer 'echo "{\"seq\": 0, \"event\": \"LATER\"}"'
scenario "bytes that are no text" survives bytes 'printf "\377\376\000\n"'
scenario "empty lines and blanks" survives blank 'printf "\n\n  x\n \n"'
scenario "a line of 100 KB" survives long 'head -c 100000 /dev/zero | tr "\0" x; echo'
scenario "a line of 1 MB without an end" survives huge 'head -c 1000000 /dev/zero | tr "\0" x'
scenario "a line that is an array" survives array 'echo "[1, 2]"'
scenario "an event with a number out of order" survives order 'echo "{\"seq\": 99999, \"event\": \"NODE\", \"message\": \"m\"}"'
scenario "a hundred gigabytes without a block" survives sparse "truncate -s 100G $journal"
scenario "a hundred gigabytes without a block, and the executor is killed" ended_by_a_test sparse-killed "truncate -s 100G $journal"
scenario "an end of the run, and the executor is killed" ended_by_a_test closed \
    "printf '{\"seq\": 99, \"event\": \"SUITE_END\", \"status\": \"COMPLETE\"}\\n' >>$journal"
scenario "the greatest number, and the executor is killed" ended_by_a_test numbered \
    "printf '{\"seq\": 9223372036854775807, \"event\": \"NODE\"}\\n' >>$journal"
scenario "half an object in the place of the job" survives job 'echo "{" >"$(dirname "$(dirname "$PWD")")/job.json"'
scenario "a folder in the place of the job" survives no-job 'rm -rf "$(dirname "$(dirname "$PWD")")/job.json"; mkdir -p "$(dirname "$(dirname "$PWD")")/job.json/x"'
scenario "a cut in its middle" survives cut "[ \"\$KERNSWEEP_REPETITION\" = 2 ] || truncate -s 100 $journal"
scenario "generated junk, followed" generated follow 1 2 3 4
scenario "generated junk, attached" generated attach 5 6
scenario "generated junk, pulled" generated pull 7 8
done_testing
