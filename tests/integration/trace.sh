#!/usr/bin/env bash
# What is asked of a node is shown by --verbose and written to KERNSWEEP_TRACE, without secrets.
. tests/lib.sh
. tests/pipeline.sh

trace=$TMPDIR/trace.jsonl
# The lines of the trace that a jq condition selects.
traced() {
    jq -c "select($1)" "$trace" | wc -l
}

pipeline_setup
plan_with '.env.API_TOKEN = "hunter2hunter2" | .secrets = ["API_TOKEN"]' "$TMPDIR/traced.json"
export KERNSWEEP_TRACE=$trace
exits "a traced run ends as any other" 0 ks_run "$TMPDIR/traced.json" --variants good --contexts 16
unlike "without --verbose nothing of it is on the terminal" "$ERR" 'kernsweep: local'
passes "every line of the trace is a JSON object" jq -e -s 'all(type == "object")' "$trace"
is "every line has a time, a duration and an end" \
    "$(traced '(.ts | test("^20.*Z$")) and .duration_s >= 0 and (has("exit") or has("error") or has("signal"))')" \
    "$(wc -l <"$trace")"
is "the connection is traced" "$(traced '.event == "connect" and .where == "local" and .transport == "local"')" 1
is "the run is submitted once" \
    "$(traced '.event == "exec" and .argv[1] == "submit" and .exit == 0 and .sent > 100')" 1
is "its bundle is fetched once" \
    "$(traced '.event == "exec" and .argv[1] == "pack" and .exit == 0 and .received > 1000')" 1
is "its journal is followed" "$(jq -s 'any(.argv[1]? == "follow")' "$trace")" true
is "the file is the user's alone" "$(stat -c %a "$trace")" 600
is "no secret is in it" "$(grep -c hunter2hunter2 "$trace")" 0

lines=$(wc -l <"$trace")
exits "a second command" 0 ks check local
[ "$(wc -l <"$trace")" -gt "$lines" ]
ok "appends to the same trace" $?

export KERNSWEEP_TRACE=/nonexistent/folder/trace
exits "a trace that cannot be written does not stop a command" 0 ks check local --verbose
like "but is reported" "$ERR" 'warning: KERNSWEEP_TRACE: /nonexistent/folder/trace: cannot open'
like "--verbose shows each command on the node, its end and its duration" "$ERR" \
    '^kernsweep: local: kernsweep-executor probe .*-> exit 0 after [0-9.]+ s'
unset KERNSWEEP_TRACE

cat >"$TMPDIR/config" <<EOF
Host nowhere
  HostName 127.0.0.1
  Port 1
EOF
export KERNSWEEP_TRACE=$TMPDIR/failed.jsonl
exits "a node that refuses the connection" 3 ks check nowhere -F "$TMPDIR/config"
is "leaves a line with the reason" \
    "$(jq -r 'select(.event == "connect") | .error | test("refused")' "$KERNSWEEP_TRACE" | sort -u)" true
is "and ssh's own configuration was asked for" \
    "$(jq -r 'select(.event == "program" and .argv[0:2] == ["ssh", "-G"]) | .exit' "$KERNSWEEP_TRACE" | sort -u)" 0
done_testing
