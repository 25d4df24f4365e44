#!/usr/bin/env bash
# A secret that a workload prints wherever it can: no part of it is in anything that people are told, in the store, in
# reports and exports, in what is kept here, or in the journal of what was asked of the node.
# timeout: 600
# shellcheck disable=SC2016 # other shells and jq expand these
. tests/lib.sh
. tests/pipeline.sh

secret=$'Qx7\'"&<\303\251\\Wm4Rk9Lp2Zt6Yb8'
PIECES=('Wm4Rk9Lp' 'Rk9Lp2Zt' '2Zt6Yb8')

# searched NAME FILE...: none has a piece of the secret
searched() {
    local name=$1 piece found=
    shift
    for piece in "${PIECES[@]}"; do found+=$(grep -raoF -e "$piece" "$@" | sort | uniq -c | head -n 5); done
    is "$name" "$found" ""
}

# Its test prints the secret as a time's name, a path, a reason and a metric's neighbour; its build and gate print it, too.
planted_plan() {
    plan_with '.env.API_TOKEN = $ENV.SECRET | .secrets = ["API_TOKEN"] | .contexts = [16] | .repetitions = 2
        | .variants = (["skips", "fails", "keys", "times", "unbuilt", "gated"] | map({name: ., run: ["python3", "{src}/leak.py", .]}))
        | .variants[4].build = [["python3", "{src}/leak.py", "fails"]]
        | .variants[5].gates = [{kind: "command", name: "g", run: ["python3", "{src}/leak.py", "fails"]}]' "$TMPDIR/planted.json"
    mkdir -p "$TMPDIR/sources"
    cat >"$TMPDIR/sources/leak.py" <<'EOF'
import json, os, sys, time
t, how = os.environ["API_TOKEN"], sys.argv[1]
print(t, json.dumps(t), json.dumps(t, ensure_ascii=False), repr(t), flush=True)
print(t, file=sys.stderr, flush=True)
if how == "skips":
    print("SKIP: " + 490 * "s" + t)
    sys.exit(77)
if how == "fails":
    sys.exit("Traceback: " + 300 * "f" + t)
if how == "keys":
    print("[PERF_TIMING] " + json.dumps({"prefill_s": 0.01, t: 2, "attn_impl": t}))
if how == "times":
    open("out-" + t.replace("/", ""), "w").write(t)
    print('[PERF_TIMING] {"prefill_s": 0.01}')
EOF
    jq --arg dir "$TMPDIR/sources" '{schema, clock, ticket, node, workdir, env, secrets, contexts, repetitions, variants, timeouts: {default: 20}} + {source: {dir: $dir}}' "$TMPDIR/planted.json" >"$TMPDIR/p" && mv "$TMPDIR/p" "$TMPDIR/planted.json"
}

# told COMMAND...: what it prints goes to the folder that is searched
told() {
    local n
    n=$(find "$TMPDIR/told" -type f | wc -l)
    "$@" >"$TMPDIR/told/$n" 2>&1
}

everything() {
    local run format
    mkdir -p "$TMPDIR/told"
    planted_plan
    export KERNSWEEP_TRACE=$TMPDIR/told/trace
    told ks_run "$TMPDIR/planted.json" --verbose --tag planted
    told ks nightly "$TMPDIR/planted.json" --artifacts "$TMPDIR/artifacts_remote" --reports "$TMPDIR/nights"
    run=$(sql "SELECT run_id FROM run WHERE tag = 'planted'")
    is "its bundle is stored" "$(sql "SELECT count(*) FROM run WHERE tag = 'planted'")" 1
    told ks validate "$TMPDIR/planted.json"
    told ks_run "$TMPDIR/planted.json" --dry-run
    told ks_run "$TMPDIR/planted.json" --dry-run --json
    told ks show "$run"
    told ks show "$run" --json
    told ks status local --json
    told ks watch "$run"
    told ks watch "$run" --json
    told ks attach "$run"
    told ks runs --json
    for format in csv json jsonl sql openmetrics; do told ks export "$run" --format $format; done
    for format in md html; do told ks report "$run" --format $format --output "$TMPDIR/report.$format"; done
    for v in skips fails keys times unbuilt gated; do
        told ks logs "$run" $v 16
        told ks diff "$run" "$run" --variant $v
        told ks history --variant $v --context 16
    done
    told ks compare "$run" latest
    told ks sql "SELECT * FROM run"
    told "$KERNSWEEP_EXECUTOR" status --workdir "$TMPDIR/work"
    unset KERNSWEEP_TRACE
    searched "nothing that people are told has a part of it" "$TMPDIR/told"
    searched "nor has the store" "$TMPDIR/results.db"
    searched "nor have bundles, nights and reports" "$TMPDIR/artifacts_remote" "$TMPDIR/nights" "$TMPDIR"/report.*
    searched "nor has what is kept beside the store" "$HOME"
    is "nor has a name" "$(find "$TMPDIR/artifacts_remote" "$TMPDIR/nights" | grep -c Wm4Rk9)" 0
    searched "nor has what the node keeps, but for the files of tests" \
        --exclude='out-*' --exclude=job.private.json "$TMPDIR/work/runs"
}

# A value that the plan has in another place, too.
elsewhere() {
    mkdir -p "$TMPDIR/told"
    planted_plan
    jq --arg s "Wm4Rk9Lp2Zt6Yb8" '.env.API_TOKEN = $s | .variants |= .[:1] | .ticket = "t-Rk9" | .variants[0].run += ["--token", $s]
        | .variants[0].patches = [{file: "leak.py", pattern: ("x" + $s), replacement: "y"}]' "$TMPDIR/planted.json" >"$TMPDIR/elsewhere.json"
    rm -f "$TMPDIR/told"/*
    told ks_run "$TMPDIR/elsewhere.json" --tag elsewhere
    like "the run is BLOCKED: its patch does not match" "$(cat "$TMPDIR/told/0")" 'its pattern, which holds a secret'
    searched "nothing that people are told has a part of it" "$TMPDIR/told"
    searched "nor have store and bundles" "$TMPDIR/results.db" "$TMPDIR/artifacts_remote"
}

pipeline_setup
export SECRET=$secret
scenario "a workload, a build and a gate that print a secret in every way" everything
scenario "a secret in commands and patches" elsewhere
done_testing
