#!/usr/bin/env bash
# Hardware counters: a profiler's stand-in on PATH plays ncu or rocprofv3 around a workload; what it counted stands in the
# comparison and the report of a confirmed regression, and a profiler that is missing or fails never fails a run.
# shellcheck disable=SC2016 # the stand-ins expand their own variables
. tests/lib.sh
. tests/store.sh

# sweep NAME COUNTERS: a plan with sources of its own, which say how long it takes and what is counted.
sweep() {
    dir=$TMPDIR/$1 DB=$TMPDIR/$1/results.db
    mkdir -p "$dir/src" "$dir/bin"
    sources 0.5 1000
    jq -n --argjson counters "$2" --arg dir "$dir" --arg path "$dir/bin:$PATH" '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "counted", node: "local", workdir: ($dir + "/work"), baseline: "main",
        source: {dir: ($dir + "/src")}, env: {PATH: $path}, counters: $counters,
        variants: [{name: "a", run: ["sh", "-c",
            "echo \"Prompt tokens: $1\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": $(cat \"$2/seconds\"), \\\"attn_impl\\\": \\\"x\\\"}\"; echo ran >>\"$3\"",
            "sh", "{context}", "{src}", ($dir + "/ran")]}],
        contexts: [16], timeouts: {default: 20}, repetitions: 2, threshold: {regression: 0.2}}' >"$dir/plan.json"
}

# sources SECONDS BYTES
sources() {
    echo "$1" >"$dir/src/seconds"
    echo "$2" >"$dir/src/bytes"
}

# Writes what Nsight Compute writes for two launches of one kernel and one of another: its messages, the units, numbers with
# thousands. The bytes come from the sources of the build.
play_ncu() {
    cat >"$dir/bin/ncu" <<'END'
#!/usr/bin/env bash
while [ "$1" != sh ]; do
    [ "$1" != --log-file ] || log=$2
    [ "$1" != --metrics ] || metrics=$2
    [ "$1 $2" != "--clock-control none" ] || unlocked=yes
    shift
done
[ "$unlocked" = yes ] && [ "$metrics" = dram__bytes_read.sum,sm__cycles_active.avg ] || exit 9
bytes=$(cat "$6/bytes")
"$@" || exit
{
    echo '==PROF== Connected to process 7 (/usr/bin/sh)'
    echo '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","sm__cycles_active.avg"'
    echo '"","","","","","","","","","","","byte","cycle"'
    echo "\"0\",\"7\",\"sh\",\"127.0.0.1\",\"attention<(int)128, __half>(\"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"$bytes\",\"2,000.5\""
    echo "\"1\",\"7\",\"sh\",\"127.0.0.1\",\"attention<(int)128, __half>(\"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"$((3 * bytes))\",\"2,000.5\""
    echo '"2","7","sh","127.0.0.1","copy","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","64","n/a"'
    echo '==PROF== Disconnected from process 7'
} >"$log"
END
    chmod +x "$dir/bin/ncu"
}

# What rocprofv3 documents: a table with a row for each counter of a dispatch, in a folder named after the host.
play_rocprofv3() {
    cat >"$dir/bin/rocprofv3" <<'END'
#!/usr/bin/env bash
[ "$1 $2 $3" = "--pmc FETCH_SIZE WRITE_SIZE" ] || exit 9
while [ "$1" != -- ]; do
    [ "$1" != -d ] || folder=$2
    shift
done
shift
bytes=$(cat "$6/bytes")
"$@" || exit
echo "W20261127 tool.cpp:900] counters may be inaccurate without CAP_PERFMON" >&2
mkdir -p "$folder/thishost"
{
    echo '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
    echo "1,1,\"Agent 4\",1,7,7,2048,16,\"attention(float*, int)\",256,0,0,32,48,\"FETCH_SIZE\",$bytes.000000,1,2"
    echo "1,1,\"Agent 4\",1,7,7,2048,16,\"attention(float*, int)\",256,0,0,32,48,\"WRITE_SIZE\",8.000000,1,2"
} >"$folder/thishost/counters_counter_collection.csv"
END
    chmod +x "$dir/bin/rocprofv3"
}

# measure [OPTION...]
# shellcheck disable=SC2120 # `exits` passes options on
measure() {
    ks run "$dir/plan.json" --artifacts "$dir/artifacts" "$@"
}

# A base, and a build that takes longer and reads twice as much.
slower() {
    # shellcheck disable=SC2119
    measure >/dev/null 2>&1
    ks baseline set main latest >/dev/null 2>&1
    sources 0.9 2000
    exits "exits 4" 4 measure --confirm
}

by_ncu() {
    sweep ncu '{"tool": "ncu", "names": ["dram__bytes_read.sum", "sm__cycles_active.avg"]}'
    play_ncu
    slower
    like "says that it counts" "$ERR" 'counting in the base.s build and this one'
    is "counts in one untimed test of each build" "$(sql "SELECT count(DISTINCT run_id) FROM counter")" 2
    is "keeps means over the launches of a kernel" \
        "$(sql "SELECT group_concat(value) FROM (SELECT value FROM counter WHERE name = 'dram__bytes_read.sum' AND kernel LIKE 'attention%' ORDER BY run_id)")" "2000.0,4000.0"
    is "keeps no value that is none" "$(sql "SELECT count(*) FROM counter WHERE kernel = 'copy' AND name LIKE 'sm_%'")" 0
    try ks compare latest --baseline main --fail-on none --json
    is "compare --json has what differs, and only that" \
        "$(jq -c '[.counters[] | [.variant, .context, .kernel, .name, .unit, .base, .now, .ratio]]' <<<"$OUT")" \
        '[["a",16,"attention<(int)128, __half>(\"x\")","dram__bytes_read.sum","byte",2000,4000,2]]'
    like "compare shows it" "$(ks compare latest --baseline main --fail-on none)" 'dram__bytes_read.sum +2000 byte +4000 byte +\+100'
    like "the report shows it" "$(ks report latest --baseline main --kind regression)" '^## Hardware counters'
    like "the report shows it in Spanish" "$(ks report latest --baseline main --lang es)" '^## Contadores de hardware'
    is "the counted test is none of the timed ones" "$(($(wc -l <"$dir/ran") - $(sql "SELECT count(*) FROM test")))" 2
    is "a run that counts is no night" "$(sql "SELECT count(*) FROM run WHERE purpose = 'sweep'")" 2
    passes "the bundles can be read again" ks ingest "$dir"/artifacts/*/*/
}

by_rocprofv3() {
    sweep rocm '{"tool": "rocprofv3", "when": "always"}'
    play_rocprofv3
    slower
    unlike "counts no more than the runs did by themselves" "$ERR" 'counting in'
    is "has the counters of both" "$(ks compare latest --baseline main --fail-on none --json | jq -c '[.counters[] | [.kernel, .name, .ratio]]')" \
        '[["attention(float*, int)","FETCH_SIZE",2]]'
    is "tells the profiler's warning" "$(find "$dir/artifacts" -name events.jsonl -exec cat {} + | jq -r '.message // empty' |
        grep -c '^counters of a at 16: rocprofv3: its counters may be wrong: W20261127 .* without CAP_PERFMON' | sed 's/^[1-9].*/told/')" told
    is "leaves one table in the bundle, and nothing else of the profiler" \
        "$(find "$dir/artifacts" -path '*_counters/*' -printf '%f\n' | sort -u | paste -sd ' ')" "counters.csv counters.log"
}

# Since ROCm 7, rocprofv3 writes a database unless it is asked for tables; a release that no longer writes those still counts.
by_database() {
    sweep database '{"tool": "rocprofv3", "when": "always"}'
    play_rocprofv3
    sed -i -e '/^mkdir/,$d' "$dir/bin/rocprofv3"
    cat >>"$dir/bin/rocprofv3" <<END
mkdir -p "\$folder/thishost"
sed "s/3000/\$bytes/" "$PWD/tests/fixtures/rocpd/3.0.sql" | sqlite3 "\$folder/thishost/counters_results.db"
END
    slower
    is "has the counters of both" "$(ks compare latest --baseline main --fail-on none --json | jq -c '[.counters[] | [.kernel, .name, .ratio]]')" \
        '[["attention(float*, int)","FETCH_SIZE",1.5]]'
    is "leaves the database in the bundle, and nothing else of the profiler" \
        "$(find "$dir/artifacts" -path '*_counters/*' -printf '%f\n' | sort -u | paste -sd ' ')" "counters.db counters.log"
    is "and it is of kernsweep" "$(find "$dir/artifacts" -name manifest.json -exec cat {} + | jq '[.files[] | select(.path | endswith("counters.db"))] | length' | sort -u)" 1
    # The command and its environment stand in a database, where they cannot be replaced.
    sweep secret '{"tool": "rocprofv3", "when": "always"}'
    cp "$TMPDIR/database/bin/rocprofv3" "$dir/bin/"
    jq '.env.TOKEN = "a-long-secret" | .secrets = ["TOKEN"]' "$dir/plan.json" >"$dir/new" && mv "$dir/new" "$dir/plan.json"
    exits "with secrets, too, the run is complete" 0 measure
    like "but its database is not kept" "$OUT$ERR" 'counters of a at 16: rocprofv3: wrote a database, which may hold the plan.s secrets and is not kept'
    is "nor in part" "$(find "$dir/artifacts" -name 'counters.*' -printf '%f\n')" counters.log
}

without_profiler() {
    sweep missing '{"tool": "rocprofv3", "when": "always"}'
    exits "exits 0" 0 measure
    like "says in one line what is missing" "$OUT$ERR" 'counters: rocprofv3 is not installed on this node'
    is "counts nothing" "$(sql "SELECT count(*) FROM counter")" 0
}

# A profiled workload that leaves what cannot be walked.
profiler_leaves_much() {
    sweep much '{"tool": "rocprofv3", "when": "always"}'
    play_rocprofv3
    {
        echo 'deep=$folder/z; for i in $(seq 100); do deep=$deep/d; done; mkdir -p "$deep"'
        echo 'mkdir -m 0 "$folder/closed"'
    } >>"$dir/bin/rocprofv3"
    exits "exits 0" 0 measure
    is "keeps the table" "$(sql "SELECT count(*) FROM counter")" 2
    is "leaves nothing else of the profiler" \
        "$(find "$dir/artifacts" "$dir/work/runs" -path '*_counters/*' -printf '%f\n' | sort -u | paste -sd ' ')" "counters.csv counters.log"
}

profiler_fails() {
    sweep failing '{"tool": "ncu", "when": "always"}'
    printf '#!/bin/sh\necho "==ERROR== ERR_NVGPUCTRPERM"; exit 1\n' >"$dir/bin/ncu"
    chmod +x "$dir/bin/ncu"
    exits "exits 0" 0 measure
    like "says so in one line" "$OUT$ERR" 'counters of a at 16: ncu: .*exit code 1'
    like "keeps its output" "$(cat "$dir"/artifacts/*/*/a/ctx_16_counters/counters.log)" 'ERR_NVGPUCTRPERM'
    is "stores the run whole" "$(sql "SELECT status FROM run")" COMPLETE
}

never() {
    sweep never '{"when": "never", "tool": "ncu"}'
    play_ncu
    slower
    is "counts nothing" "$(sql "SELECT count(*) FROM counter")" 0
}

mistakes() {
    sweep mistakes '{"names": ["--export=/etc/passwd"]}'
    exits "refuses it before anything starts" 2 measure --dry-run
    like "names the place" "$ERR" '\$.counters.names\[0\]'
    sweep both '{"names": ["a__b"], "preset": "memory"}'
    exits "refuses names and a preset together" 2 measure --dry-run
    like "says that they exclude each other" "$ERR" 'give names or a preset, not both'
}

scenario "a confirmed regression counted by ncu" by_ncu
scenario "runs that rocprofv3 counts in" by_rocprofv3
scenario "a rocprofv3 that writes databases" by_database
scenario "a node without the profiler" without_profiler
scenario "a profiler that fails" profiler_fails
scenario "a profiler that leaves folders that cannot be read" profiler_leaves_much
scenario "a plan that never counts" never
scenario "mistakes in counters" mistakes
done_testing
