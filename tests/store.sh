# shellcheck shell=bash
# The command with a store of the test's own: `. tests/store.sh`, after tests/lib.sh. A script with it runs the command (tests/since).

# The script's own store, or the scenario's.
DB=$TMPDIR/results.db
KS_OPTIONS=()

# ks COMMAND...: runs kernsweep with that store
ks() {
    "$KERNSWEEP" "$@" --db "$DB" "${KS_OPTIONS[@]}"
}

# A store that others may read has no log, so that readers wait for its writer. Nothing is made that is not there.
sql() {
    sqlite3 -batch -noheader -cmd ".timeout 5000" "file:$DB?mode=rw" "$1"
}
