#!/usr/bin/env bash
# What each release promised (docs/stability.md): its store is upgraded, its bundle is stored, and JSON keeps its members.
# shellcheck disable=SC2016 # jq has variables of its own
. tests/lib.sh
. tests/store.sh

RELEASED=tests/fixtures/released
# Which bundles are still there is a fact of each machine.
ANYWHERE='(.. | objects | select(has("bundle_found"))).bundle_found = true'

# answers RUN: what the commands say of a store and of that run in it
answers() {
    local command
    for command in "show $1" "compare $1" "history --variant base --context 128" best accept note runs "baseline list" "db check" \
        "export $1 --format json"; do
        # shellcheck disable=SC2086 # words
        jq -n --arg command "${command%% *}" '{($command): input}' <(ks $command --json)
    done | jq -s "add | $ANYWHERE"
}

# members FILE: one per line, and once more with its type where it has a value
members() {
    jq -r 'path(..) as $p | [$p[] | numbers = "[]"] as $name | $name, (getpath($p) | values | [$name, type]) | tojson' "$1" | sort -u
}

# lost FILTER: what that part of the answers then had and the answers now do not have
lost() {
    comm -23 <(members <(jq "$1" "$TMPDIR/then")) <(members <(jq "$1" "$TMPDIR/now")) | head -n 5
}

open_store() {
    gzip -dc "$RELEASED/$VERSION/store.db.gz" >"$DB"
    jq "$ANYWHERE" "$RELEASED/$VERSION/answers.json" >"$TMPDIR/then"
    RUN=$(jq -er .show.run_id "$TMPDIR/then")
}

upgraded() {
    open_store || return 1
    exits "db check exits 0" 0 ks db check
    answers "$RUN" >"$TMPDIR/now"
    is "JSON has all members that it had, of the same types" "$(lost .)" ""
    is "what was stored is the same" "$(jq -n --slurpfile old "$TMPDIR/then" --slurpfile now "$TMPDIR/now" '
        $old[0] | to_entries[] | select(.key | IN("show", "export", "runs", "accept", "note", "baseline")) | . as $x |
        select($now[0][$x.key] | contains($x.value) | not) | $x.key')" ""
}

# What the programs printed themselves has columns at the end.
columns() {
    open_store || return 1
    like "export as CSV begins with the columns that it had" "$(ks export 20261120-hyperfine-4f7cbe | head -n 1)" \
        "^$(cat "$RELEASED/$VERSION/columns.csv")"
}

bundle() {
    open_store || return 1
    tar -xzf "$RELEASED/$VERSION/bundle.tar.gz" -C "$TMPDIR"
    rm "$DB"
    exits "ingest exits 0" 0 ks ingest "$TMPDIR"/released_*
    is "its tests are those that were stored then" "$(ks show "$RUN" --json | jq .tests)" "$(jq .show.tests "$TMPDIR/then")"
}

for VERSION in "$RELEASED"/*/; do
    VERSION=$(basename "$VERSION")
    scenario "a store of $VERSION" upgraded
    scenario "a spreadsheet made by $VERSION" columns
    scenario "a bundle of $VERSION" bundle
done
done_testing
