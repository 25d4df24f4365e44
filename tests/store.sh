# shellcheck shell=bash
# The command with a store of the test's own: `. tests/store.sh`, after tests/lib.sh. A script with it runs the command (tests/since).

# The script's own store, or the scenario's.
DB=$TMPDIR/results.db
KS_OPTIONS=()

# ks COMMAND...: runs kernsweep with that store
ks() {
    "$KERNSWEEP" "$@" --db "$DB" "${KS_OPTIONS[@]}"
}

sql() {
    sqlite3 -batch -noheader "$DB" "$1"
}
