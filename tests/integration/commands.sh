#!/usr/bin/env bash
# What commands print is what they did: cancelling, first runs, options, output into a pipe.
# shellcheck disable=SC2016 # other shells and jq expand these
. tests/lib.sh
. tests/pipeline.sh

# waiting_run TAG: a run that is in its test, which waits; RUN is its id
waiting_run() {
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "run --detach exits 0" 0 ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag "$1" --detach
    RUN=$OUT
    until_true 120 test -e "$TMPDIR/marks/started"
    ok "the run comes to its test" $? "$(ks status "$RUN" 2>&1; ks logs "$RUN" waits --build 2>&1)"
}

state_of() {
    ks status "$1" --json 2>/dev/null | jq -r '.[0] | [.state, .status] | join(" ")'
}

cancel_complete() {
    clean_sweep
    exits "cancel of a complete run exits 2" 2 ks cancel "$(sql "SELECT run_id FROM run WHERE tag = 'clean'")"
    like "it says how the run had ended" "$ERR" 'had already ended \(COMPLETE\): nothing was cancelled; no run is running on local'
    exits "cancel latest exits 2 when nothing runs" 2 ks cancel latest
    like "it says so" "$ERR" 'no run is running'
}

cancel_after_blocked() {
    local first second
    waiting_run first
    first=$RUN
    second=$(ks_run "$TMPDIR/plan.json" --variants good --tag second --detach 2>/dev/null)
    until_true 60 eval "state_of '$second' | grep -q BLOCKED"
    is "the second start is blocked" "$(state_of "$second")" "complete BLOCKED"
    exits "cancel of the blocked run exits 2" 2 ks cancel "$second"
    like "it names the run that is running" "$ERR" "already ended \\(BLOCKED\\): nothing was cancelled; running on local: $first"
    is "that run goes on" "$(state_of "$first" | cut -d ' ' -f 1)" running
    exits "cancel latest exits 0" 0 ks cancel latest
    like "it names the run that it cancelled" "$ERR" "cancelled run $first on local"
    is "that run is cancelled" "$(state_of "$first")" "complete CANCELLED"
    exits "a second cancel exits 2" 2 ks cancel "$first"
    like "it says that the run was cancelled before" "$ERR" 'had already ended \(CANCELLED\)'
}

# A word such as "latest" also means a run here, on another node than the one that is named.
node_that_is_named() {
    local run work
    waiting_run named
    run=$RUN work=$(jq -r .workdir "$TMPDIR/plan.json")
    exits "cancel latest --node of another node asks that node" 3 ks cancel latest --node nowhere.invalid
    like "it says so" "$ERR" 'cannot resolve nowhere.invalid'
    is "and leaves the run here alone" "$(state_of "$run" | cut -d ' ' -f 1)" running
    exits "so does attach" 3 ks attach latest --node nowhere.invalid
    exits "and logs" 3 ks logs latest waits 32 --node nowhere.invalid
    exits "watch of a plan knows no run of it there" 2 ks watch "$TMPDIR/plan.json" --node nowhere.invalid
    exits "a run is found on its own node and in its folder" 0 ks cancel latest --node local --workdir "$work"
    like "and in no other" "$(ks cancel "$run" --node local --workdir "$work/other" 2>&1)" "\"$run\" matches 0 runs on this node"
    exits "--workdir without its node exits 2" 2 ks attach latest --workdir "$work"
    like "it says what is missing" "$ERR" '--workdir: name its node, too'
    exits "a folder that no plan may have exits 2" 2 ks status --node local --workdir ../x
    # shellcheck disable=SC2088 # the command expands it
    HOME=$TMPDIR exits "~ is the home folder" 0 ks status --node local --workdir '~/tilde' --json
    passes "and no folder's name" test ! -e "$TMPDIR/~"
    exits "status of a run and a node exits 2" 2 ks status "$run" --node local
    ks attach "$run" >/dev/null 2>&1 || true # it was cancelled
}

no_baseline_yet() {
    exits "a first run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag first --baseline unset
    like "a note says how to set the baseline" "$ERR" 'note: pipe has no baseline "unset" on local yet.*kernsweep baseline set unset '
    unlike "it is no error" "$ERR" '^kernsweep:'
    exits "with --quiet, too" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag quietfirst --baseline unset --quiet
    like "it says all the same that nothing was compared, and with what" "$ERR" '^note: pipe has no baseline "unset" on local yet, so nothing was compared'
    is "and nothing else" "$(wc -l <<<"$ERR")" 1
    exits "a first run with a failing test exits 1" 1 ks_run "$TMPDIR/plan.json" --variants fails --contexts 16 --tag firstfails --baseline unset
    exits "baseline set" 0 ks baseline set ofperf "$(sql "SELECT run_id FROM run WHERE tag = 'first'")"
    exits "a run in another mode has no such baseline" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag debugged --mode debug --baseline ofperf
    like "and a note says so" "$ERR" 'note: pipe has no baseline "ofperf" on local yet'
    exits "nor is it compared with a run of another" 2 ks compare "$(sql "SELECT run_id FROM run WHERE tag = 'first'")" "$(sql "SELECT run_id FROM run WHERE tag = 'debugged'")"
    like "it says which mode each has" "$ERR" 'was measured in mode debug, and .* in mode perf: runs of different modes are never compared'
}

logs_of_tests() {
    mixed_sweep
    local run
    run=$(sql "SELECT run_id FROM run WHERE tag = 'mixed'")
    exits "the output of a test exits 0" 0 ks logs "$run" good 16 1
    is "it is the test's run.log" "$OUT" "$(cat "$(bundle_of mixed)/good/ctx_16_run1/run.log")"
    like "stderr names the file" "$ERR" 'good/ctx_16_run1/run.log'
    exits "so does the evidence of a failure" 0 ks logs "$run" fails 16 --diag
    is "it is the test's diag.txt" "$OUT" "$(cat "$(bundle_of mixed)/fails/ctx_16_run1/diag.txt")"
    exits "and the log of a build that failed" 0 ks logs "$run" nobuild --build --quiet
    is "it is the variant's build.log" "$OUT" "$(cat "$(bundle_of mixed)/nobuild/build.log")"
    is "quiet: nothing but the log" "$ERR" ''
    exits "a bundle's folder will do" 0 ks logs "$(bundle_of mixed)" good 16 1
    exits "a variant that is not there exits 2" 2 ks logs "$run" goof 16
    like "and is answered with those that are" "$ERR" "run $run: no log of variant goof; there are: .*good"
    exits "--json is refused" 2 ks logs "$run" good 16 --json
}

logs_of_a_live_run() {
    local run
    waiting_run live
    run=$RUN
    exits "a test that is running has a log" 0 ks logs "$run" waits 32
    like "it says that there is more to come" "$ERR" 'waits/ctx_32_run1/\.run\.log\.part \(still being written\)'
    exits "a test that has not begun exits 2" 2 ks logs "$run" good 32
    like "it says that this is a live run, and what shows its tests" "$ERR" "run $run: no log of variant good; .*once it has begun: see .kernsweep watch $run"
    touch "$TMPDIR/marks/go"
    exits "--follow ends with the test" 0 timeout 60 "$KERNSWEEP" logs "$run" waits 32 --follow --db "$TMPDIR/results.db"
    like "and prints the last line" "$OUT" 'PERF_TIMING'
    ks attach "$run" >/dev/null 2>&1
}

# The node's tail finds the test's end between the choice of the log and its reading.
log_of_a_test_that_ends() {
    waiting_run ends
    mkdir -p "$TMPDIR/bin"
    cat >"$TMPDIR/bin/tail" <<EOF
#!/bin/sh
touch "$TMPDIR/marks/go"
while [ -e "\$4" ] && [ "\${4%.part}" != "\$4" ]; do sleep 0.01; done
exec $(command -v tail) "\$@"
EOF
    chmod +x "$TMPDIR/bin/tail"
    PATH=$TMPDIR/bin:$PATH exits "its log is shown" 0 timeout 60 "$KERNSWEEP" logs "$RUN" waits 32 --db "$TMPDIR/results.db"
    like "from its start to its end" "$OUT" 'PERF_TIMING'
    ks attach "$RUN" >/dev/null 2>&1
}

open_in_a_browser() {
    clean_sweep
    local run page
    run=$(sql "SELECT run_id FROM run WHERE tag = 'clean'")
    printf '#!/bin/sh\nprintf "%%s\\n" "$1"\n' >"$TMPDIR/browser"
    chmod +x "$TMPDIR/browser"
    BROWSER=$TMPDIR/browser exits "open exits as the browser does" 0 ks open "$run"
    is "the browser gets the report next to the bundle" "$OUT" "file://$(bundle_of clean).html"
    mv "$(bundle_of clean).html" "$TMPDIR/away.html"
    page=$(XDG_CACHE_HOME=$TMPDIR/cache ks open "$run" --print)
    is "without one, a page in the cache" "${page#"$TMPDIR/cache/kernsweep/reports/"*/}" "$run.html"
    passes "it is a page" grep -q '<main' "$page"
    mv "$TMPDIR/away.html" "$(bundle_of clean).html"
    BROWSER='' DISPLAY='' exits "without a browser it exits 5" 5 env -u DISPLAY -u WAYLAND_DISPLAY "$KERNSWEEP" open "$run" --db "$TMPDIR/results.db"
    like "and names the page" "$ERR" "no browser here .*: the page is $(bundle_of clean).html"
    exits "an index that is not there exits 2" 2 ks open index --reports "$TMPDIR/none"
    like "and says what writes it" "$ERR" 'kernsweep nightly'
}

lists_of_runs() {
    clean_sweep
    mixed_sweep
    local n
    n=$(sql "SELECT count(*) FROM run")
    exits "runs --limit exits 0" 0 ks runs --limit 1
    is "it prints a head and one run" "$(wc -l <<<"$OUT")" 2
    like "the head names the columns" "$OUT" '^RUN +DATE +NODE +TICKET'
    like "stderr says how many are left out" "$ERR" "^$((n - 1)) older runs? (is|are) not shown: --all"
    exits "--quiet exits 0" 0 ks runs --limit 1 --quiet
    is "and leaves the note out" "$ERR" ''
    is "JSON is complete" "$(ks runs --json | jq length)" "$n"
    is "unless a limit is given" "$(ks runs --json --limit 1 2>/dev/null | jq length)" 1
    is "--sort failed has the run with the most failures first" "$(ks runs --json --sort failed | jq -r '.[0].tag')" mixed
    exits "an unknown key exits 2" 2 ks runs --sort size
    like "and is answered with those that are known" "$ERR" 'expected one of date, node, .*failed, found "size"'
    exits "--limit 0 exits 2" 2 ks runs --limit 0
    exits "runs takes --limit or --all" 2 ks runs --limit 1 --all
    exits "the list's options do not go with a change" 2 ks runs remove "$(sql "SELECT run_id FROM run WHERE tag = 'clean'")" --limit 1
    is "history prints as many rows as asked for" \
        "$(ks history --variant good --context 16 --ticket pipe --mode perf --limit 1 2>/dev/null | grep -c '^20..-')" 1
    is "status too" "$(ks status --limit 1 --json 2>/dev/null | jq length)" 1
}

quiet_run() {
    exits "run --quiet exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag quiet --quiet
    is "it prints no progress and no notes" "$ERR" ''
    like "but the results" "$OUT" '^ +16 +good .*Reference'
    exits "an error is told all the same" 2 ks_run "$TMPDIR/plan.json" --variants nobody --quiet
    like "on stderr" "$ERR" '^kernsweep: .*nobody'
}

colours() {
    mixed_sweep
    local run
    run=$(sql "SELECT run_id FROM run WHERE tag = 'mixed'")
    unlike "a pipe has no colours" "$(ks show "$run")" $'\e\\['
    like "--color=always has" "$(NO_COLOR=1 ks show "$run" --color=always)" $'\e\\['
    unlike "--color=never has none" "$(CLICOLOR_FORCE=1 ks show "$run" --color=never)" $'\e\\['
    unlike "NO_COLOR goes before CLICOLOR_FORCE" "$(NO_COLOR=1 CLICOLOR_FORCE=1 ks show "$run")" $'\e\\['
    exits "another word exits 2" 2 ks show "$run" --color sometimes
}

# The name of a folder that was removed is given to the next run of the day.
reused_folder() {
    local first second dir
    exits "the first run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag reused
    first=$(sql "SELECT run_id FROM run WHERE tag = 'reused'") dir=$(bundle_of reused)
    rm -rf "$dir"
    exits "so does the second" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag reused --report "$TMPDIR/reused.md"
    second=$(sql "SELECT run_id FROM run WHERE tag = 'reused' AND run_id <> '$first'")
    is "it has the folder of the first" "$(jq -r .run_id "$dir/manifest.json")" "$second"
    exits "the first run's logs are refused" 2 ks logs "$first" good 16 1
    like "in one line that names run and folder" "$ERR" "^kernsweep: the bundle of run $first is no longer in $dir, which has another run's: .*name its folder\$"
    is "nothing of the second is printed" "$OUT" ''
    exits "the second's are there" 0 ks logs "$second" good 16 1
    like "the page of the second is not the one that the first left" "$(XDG_CACHE_HOME=$TMPDIR/cache ks open "$second" --print)" "/cache/.*$second.html\$"
    like "and the first has one of its own" "$(XDG_CACHE_HOME=$TMPDIR/cache ks open "$first" --print)" "/cache/.*$first.html\$"
    try ks report "$first"
    unlike "its report does not name the folder" "$OUT" "^kernsweep run|${dir##*/}/"
    like "but says that the plan is gone" "$OUT" "The run's bundle, which kept the plan, is no longer in its folder"
    like "that of the second has its command" "$(ks report "$second")" "kernsweep run .*${dir##*/}/plan.json"
    try ks runs remove "$first"
    unlike "removing the first says nothing of a bundle that stays" "$ERR" 'its bundle stays'
}

run_by_ticket() {
    clean_sweep
    is "a ticket is the newest sweep of it" "$(ks show pipe --json | jq -r .run_id)" \
        "$(sql "SELECT run_id FROM run WHERE ticket = 'pipe' AND purpose = 'sweep' ORDER BY ordered_at DESC, id DESC LIMIT 1")"
    exits "attach takes one, too" 0 ks attach pipe
    exits "so does status" 0 ks status pipe --json
    is "and means the same run" "$(jq -r '.[0].run_id' <<<"$OUT")" "$(ks show pipe --json | jq -r .run_id)"
    exits "and logs" 0 ks logs pipe good 16 1
    exits "attach refuses an unknown one" 2 ks attach nothing
    like "and says so in one line" "$ERR" '^kernsweep: no run or ticket "nothing" was started from here'
    exits "an unknown one exits 2" 2 ks show nothing
    like "and says so" "$ERR" 'no such run or ticket'
}

# What a narrowed run left out is not missing; what it was to measure and lost is.
narrowed_run() {
    try ks_run "$TMPDIR/plan.json" --variants good --tag whole
    ks baseline set whole "$(sql "SELECT run_id FROM run WHERE tag = 'whole'")" >/dev/null 2>&1
    try ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag narrow
    try ks compare "$(sql "SELECT run_id FROM run WHERE tag = 'narrow'")" --baseline whole --threshold 900% --json
    is "nothing is missing" "$(jq '[.cells[] | select(.verdict == "missing")] | length' <<<"$OUT")" 0
    is "the context that was measured is compared" "$(jq -c '[.cells[].context]' <<<"$OUT")" "[16]"
    is "and the comparison does not fail" "$RC" 0
}

# Whatever a cell that failed in the baseline loses later, it is fixed or new.
baseline_with_failures() {
    local mixed clean
    mixed_sweep
    clean_sweep
    mixed=$(sql "SELECT run_id FROM run WHERE tag = 'mixed'")
    clean=$(sql "SELECT run_id FROM run WHERE tag = 'clean'")
    exits "baseline set exits 0" 0 ks baseline set partly "$mixed"
    like "it says what no comparison will find" "$ERR" "^note: [0-9]+ of the [0-9]+ cells of run $mixed are not OK: no comparison with this baseline finds a regression in them"
    exits "in addition to other runs it exits 0" 0 ks baseline set partly "$mixed" --add
    unlike "and leaves that to them" "$ERR" 'are not OK'
    exits "of a run whose cells are all OK it exits 0" 0 ks baseline set partly "$clean"
    unlike "and has nothing to say of them" "$ERR" 'are not OK'
}

# A slower variant is a finding; whoever asks for a failure gets one.
within_fails_on() {
    mixed_sweep
    local run
    run=$(sql "SELECT run_id FROM run WHERE tag = 'mixed'")
    exits "compare --within exits 0" 0 ks compare "$run" --within --reference good
    like "a failure is one of the variant, not of a change" "$OUT" 'broken.*OK in the reference, here CRASH'
    exits "with --fail-on regression it exits 4" 4 ks compare "$run" --within --reference good --fail-on regression
    exits "with --fail-on failure it exits 1" 1 ks compare "$run" --within --reference good --fail-on failure
    exits "with --fail-on none it exits 0" 0 ks compare "$run" --within --reference good --fail-on none
}

# An empty table would look as if nothing had been measured.
within_one_variant() {
    clean_sweep
    local run format
    run=$(sql "SELECT run_id FROM run WHERE tag = 'clean'")
    for format in text md csv junit github; do
        exits "compare --within as $format exits 2" 2 ks compare "$run" --within --format "$format"
        is "it says why" "$ERR" "kernsweep: compare: --within: run $run has no variant to compare with good: name a second run, or give --baseline NAME"
        is "and prints no table" "$OUT" ''
    done
    exits "as JSON, too" 2 ks compare "$run" --within --json
}

runs_of_two_tickets() {
    clean_sweep
    plan_with '.ticket = "other"' "$TMPDIR/other.json"
    exits "a run of another plan exits 0" 0 ks_run "$TMPDIR/other.json" --variants good --tag other
    local pair format
    pair="$(sql "SELECT run_id FROM run WHERE tag = 'clean'") $(sql "SELECT run_id FROM run WHERE tag = 'other'")"
    # shellcheck disable=SC2086 # two runs
    {
        like "compare says that the tickets differ" "$(ks compare $pair 2>&1)" '^The runs are of different tickets: the base of pipe, the other of other\.'
        like "in Markdown, too" "$(ks compare $pair --format md 2>&1)" '^The runs are of different tickets: the base of pipe, the other of other\.'
        is "CSV has both in each row" "$(ks compare $pair --format csv 2>/dev/null | sed 's/.*,\("*[a-z_]*"*,"*[a-z_]*"*\)$/\1/' | sort -u)" '"pipe","other"
base_ticket,now_ticket'
        for format in md csv junit github; do
            is "as $format, a narrow terminal breaks no line" \
                "$(script -qec "stty cols 60; '$KERNSWEEP' compare $pair --format $format --db '$DB' 2>/dev/null" /dev/null </dev/null | tr -d '\r')" \
                "$(ks compare $pair --format "$format" 2>/dev/null)"
        done
        like "JUnit says it below its test cases" "$(ks compare $pair --format junit 2>/dev/null)" '<system-out>The runs are of different tickets: the base of pipe, the other of other\.</system-out>'
        like "GitHub shows a warning" "$(ks compare $pair --format github 2>/dev/null)" '^::warning title=different tickets::The runs are of different tickets: '
        like "so does a report" "$(ks report ${pair#* } --against ${pair% *} 2>/dev/null)" '^  - The runs are of different tickets: the base of pipe, the other of other\.'
        is "JSON has both" "$(ks compare $pair --json 2>/dev/null | jq -r '.base_ticket + " " + .now_ticket')" "pipe other"
        unlike "two runs of one ticket need no such word" "$(ks compare ${pair% *} ${pair% *} 2>&1)" 'different tickets'
    }
}

# An executor that refuses every job, as one of another version might.
refused_by_executor() {
    cat >"$TMPDIR/refuses" <<EOF
#!/bin/sh
[ "\$1" != submit ] || { echo "kernsweep-executor: stdin: job: no" >&2; exit 2; }
exec $BUILD/kernsweep-executor "\$@"
EOF
    chmod +x "$TMPDIR/refuses"
    clean_sweep
    KERNSWEEP_EXECUTOR=$TMPDIR/refuses try ks_run "$TMPDIR/plan.json" --variants good --tag refused
    like "the start fails with the executor's reason" "$ERR" 'submit failed with exit code 2: .*job: no'
    unlike "status does not show it" "$(ks status 2>/dev/null)" 'starting'
    try ks attach latest
    like "attach latest takes the run before it" "$OUT" '^bundle .*/pipe_(clean|first|narrow|quiet|whole)'
    is "no bundle is left" "$(bundle_of refused)" ""
}

# The command of the last report's section "Reproduction", as somebody would paste it, from the folder of the bundles.
pasted() {
    local line words
    line=$(sed -n '/Reproduction$/,$p' "$(bundle_of "$1").md" | grep -m 1 '^kernsweep run ')
    read -r -a words <<<"$line"
    (cd "$TMPDIR" && "$KERNSWEEP" "${words[@]:1}" --db "$TMPDIR/results.db" "${@:2}")
}

source_of() {
    jq -r .source.sha256 "$(bundle_of "$1")/job.json"
}

tests_of() {
    jq -c '[.tests[] | [.variant, .context, .repetition]]' "$(bundle_of "$1")/job.json"
}

reproduced() {
    local sha plan tests
    cp -R "$FIXTURES" "$TMPDIR/sources"
    plan_with ".source.dir = \"sources\" | .env.API_TOKEN = \"very secret\" | .secrets = [\"API_TOKEN\"]" "$TMPDIR/own.json"
    exits "the sweep exits 0" 0 ks_run "$TMPDIR/own.json" --variants good --contexts 16 --repeat 16:2 --tag original
    sha=$(source_of original) tests=$(tests_of original) plan=$(jq -r .plan_sha256 "$(bundle_of original)/job.json")
    exits "without the secret, the pasted command exits 2" 2 pasted original
    like "it says which secret is missing" "$ERR" 'env.API_TOKEN: a secret, whose value no bundle keeps'
    export API_TOKEN='very secret'
    exits "the pasted command exits 0" 0 pasted original --tag again
    is "it runs the same sources" "$(source_of again)" "$sha"
    is "it is no sweep, which latest would be" "$(sql "SELECT purpose FROM run WHERE tag = 'again'")" confirm
    is "it runs the same tests" "$(tests_of again)" "$tests"
    is "it runs the same plan" "$(jq -r .plan_sha256 "$(bundle_of again)/job.json")" "$plan"
    echo "# changed" >>"$TMPDIR/sources/workload"
    exits "with changed sources, the pasted command exits 0" 0 pasted original --tag changed
    is "it runs the recorded sources" "$(source_of changed)" "$sha"
    rm -rf "$TMPDIR/work/src"
    exits "without the node's copy, it exits 2" 2 pasted original --tag gone
    like "it says what is gone" "$ERR" "the sources ${sha:0:12} of run .* are gone: node local no longer has them, and $TMPDIR/sources has changed"
    cp "$FIXTURES/workload" "$TMPDIR/sources/workload"
    exits "with the sources as they were, it exits 0" 0 pasted again --tag restored
    is "it sends them again" "$(source_of restored)" "$sha"
}

pipes_and_json() {
    local command
    clean_sweep
    for command in "report latest" "nodes trust nowhere" "pull latest" "db vacuum" "gguf set x y 1" "baseline remove x"; do
        # shellcheck disable=SC2086 # words
        exits "$command refuses --json" 2 ks $command --json
        one_line "$command says so in one line" "$ERR"
    done
    exits "resources without a kernel exits 2 with --json, too" 2 ks resources tests/lib.sh --json
    is "and prints what it read" "$(jq -c . <<<"$OUT")" '{"files":[{"file":"tests/lib.sh","kernels":[]}]}'
    # A store of its own: every later run would be judged beside these.
    sqlite3 "$TMPDIR/results.db" "VACUUM INTO '$TMPDIR/long.db'"
    sqlite3 "$TMPDIR/long.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO test(run_id, series_id, repetition, warmup, status) SELECT run_id, series_id, 1000 + i, 0, 'OK' FROM (SELECT * FROM test LIMIT 1), n"
    for command in "export" "export --format jsonl" "export --json" "runs --json" "sql --json 'SELECT 1'"; do
        ERR=$(eval "\"\$KERNSWEEP\" $command --db \"\$TMPDIR/long.db\" 2>&1 >&3 3>&- | cat" 3> >(head -c 1 >/dev/null))
        is "$command into a reader that leaves prints nothing" "$ERR" ""
    done
}

help_lists_own_options() {
    unlike "cancel has no --baseline" "$("$KERNSWEEP" cancel --help)" '--(baseline|report|output|artifacts|fail-on)'
    like "attach has --baseline" "$("$KERNSWEEP" attach --help)" '--baseline'
    unlike "report has no --json" "$("$KERNSWEEP" report --help)" '--json'
    exits "cancel refuses --baseline" 2 ks cancel latest --baseline x
    is "help COMMAND is COMMAND --help" "$("$KERNSWEEP" help sql)" "$("$KERNSWEEP" sql --help)"
    unlike "sql has no options of nodes" "$("$KERNSWEEP" help sql)" '--(ssh-config|transport|verbose)'
    like "run has them" "$("$KERNSWEEP" help run)" '--transport'
    unlike "gguf has no --db" "$("$KERNSWEEP" help gguf)" '--db'
    exits "a script may give every command the same options" 0 "$KERNSWEEP" version --db "$TMPDIR/unused.db" --ssh-config /dev/null
    exits "help of an unknown command exits 2" 2 "$KERNSWEEP" help nonsense
    unlike "what the completions ask for is not in the help" "$("$KERNSWEEP" help)" ' complete '
    exits "complete refuses an unknown kind" 2 "$KERNSWEEP" complete nonsense
}

help_is_narrow() {
    local command wide=
    for command in $("$KERNSWEEP" help | awk '/^  [a-z]/ { print $1 }'); do
        wide+=$("$KERNSWEEP" "$command" --help | awk -v c="$command" 'length > 100 { print c ": " $0 }')
    done
    is "no line has more than 100 columns" "$wide$("$KERNSWEEP" help | awk 'length > 100')" ""
    is "a broken line stays one option for manual pages" \
        "$(scripts/command-table "$KERNSWEEP" | awk -F '\t' '$1 == "O" && $2 == "runs" && $5 == ""' | wc -l)" 0
}

sources_unwatched() {
    plan_with 'del(.source, .reference) | .variants = [{name: "a", build: [["true"]], run: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.000001}\"; sleep 0.01"]}]
        | .contexts = [16]' "$TMPDIR/unwatched.json"
    exits "the run exits 0" 0 ks_run "$TMPDIR/unwatched.json" --tag unwatched
    like "its start says that nothing watches the sources" "$ERR" 'changes to the sources on the node go unnoticed.*--fresh rebuilds'
    exits "with --fresh, the run exits 0" 0 ks_run "$TMPDIR/unwatched.json" --tag unwatched --fresh
    unlike "with --fresh, it does not" "$ERR" 'go unnoticed'
    clean_sweep
    unlike "a plan with sources does not" "$ERR" 'go unnoticed'
}

pipeline_setup
store_in_memory() {
    local option
    for option in "--db :memory:" ""; do
        # shellcheck disable=SC2086 # two words or none
        exits "runs ${option:-with KERNSWEEP_DB} exits 2" 2 env KERNSWEEP_DB=:memory: "$KERNSWEEP" runs $option
        like "it says why" "$ERR" ':memory: would be gone when the command ends'
    done
}

store_on_read_only_medium() {
    local dir=$TMPDIR/read-only
    clean_sweep
    mkdir -p "$dir"
    cp "$TMPDIR/results.db" "$dir/a#b?.db"
    try unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && "$2" baseline list --db "/$1/a#b?.db" &&
        exec "$2" runs --db "/$1/a#b?.db" --json' \
        sh "$dir" "$KERNSWEEP"
    if [ "$RC" -ne 0 ] && [[ $ERR == *unshare* ]]; then
        skip "a store on a read-only file system can be read" "no right to mount"
        return
    fi
    is "a store on a read-only file system can be read" "$RC $(jq 'length > 0' <<<"$OUT")" "0 true"
}

output_that_is_lost() {
    clean_sweep
    local command
    for command in "runs --db \$1" "runs --json --db \$1" help "export --format csv --db \$1"; do
        try sh -c "exec \"\$0\" $command >/dev/full" "$KERNSWEEP" "$TMPDIR/results.db"
        is "$command to a full disk exits 5" "$RC" 5
        like "$command says that the output is not complete" "$ERR" 'stdout|write'
    done
}

report_file_names() {
    clean_sweep
    exits "report --output with a name in .html exits 0" 0 ks report latest --output "$TMPDIR/r.html"
    like "it is HTML" "$(head -c 200 "$TMPDIR/r.html")" '<!doctype html>'
    exits "Markdown into a name in .html is refused" 2 ks report latest --format md --output "$TMPDIR/m.html"
    like "and why" "$ERR" 'm.html: a browser would take this Markdown for HTML'
    exits "a folder that is not there is an error" 5 ks report latest --output "$TMPDIR/absent/r.html"
    like "which names the file as it was given" "$ERR" '/absent/r\.html: cannot create: '
}

# A command that waits for another writer ends at once, with nothing half done.
interrupted_while_storing() {
    local bundle=$TMPDIR/interrupted pid
    clean_sweep
    cp -r "$(sql "SELECT bundle FROM run WHERE tag = 'clean'")" "$bundle"
    sqlite3 "$TMPDIR/results.db" "VACUUM INTO '$TMPDIR/other.db'"
    sqlite3 "$TMPDIR/other.db" "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; DELETE FROM run" >/dev/null
    coproc sqlite3 -batch "$TMPDIR/other.db"
    echo "BEGIN IMMEDIATE; SELECT 'held';" >&"${COPROC[1]}"
    read -r -t 20 _ <&"${COPROC[0]}"
    "$KERNSWEEP" ingest "$bundle" "$bundle" --db "$TMPDIR/other.db" 2>"$TMPDIR/ingest.err" &
    pid=$!
    sleep 0.5
    kill -TERM "$pid"
    until_true 10 eval "! kill -0 $pid 2>/dev/null"
    is "ingest ends when it is told to, though it waits for another writer" "$(kill -0 "$pid" 2>/dev/null; echo $?)" 1
    wait "$pid"
    is "with exit code 130" $? 130
    like "it says what is not stored" "$(cat "$TMPDIR/ingest.err")" 'interrupted: 2 of 2 folders are not stored'
    echo "ROLLBACK;" >&"${COPROC[1]}"
    eval "exec ${COPROC[1]}>&-"
    wait "$COPROC_PID"
    is "nothing is half stored" "$(sqlite3 "$TMPDIR/other.db" 'SELECT count(*) FROM run')" 0
    exits "the same command then stores it" 0 "$KERNSWEEP" ingest "$bundle" --db "$TMPDIR/other.db"
}

a_list_on_a_narrow_terminal() {
    clean_sweep
    exits "baseline set exits 0" 0 ks baseline set narrow latest
    like "the list of baselines fits, its run in one piece" \
        "$(script -qec "stty cols 60; '$KERNSWEEP' baseline list --db '$DB'" /dev/null </dev/null | tr -d '\r' | awk 'length <= 60')" \
        "^narrow .* $(ks show latest --json | jq -r .run_id)( |$)"
    exits "baseline remove exits 0" 0 ks baseline remove narrow
}

options_that_belong_elsewhere() {
    clean_sweep
    local command
    for command in "baseline set x latest --ticket pipe" "baseline list --add" "baseline list --node local" "baseline remove x --add" \
        "compare latest --baseline x --reference good" "compare latest --within --json --format csv"; do
        # shellcheck disable=SC2086 # words
        exits "$command exits 2" 2 ks $command
        like "$command says what it needs" "$ERR" ' needs --| options? of |is for the list|give (only one of )?--'
    done
    is "and sets no baseline" "$(sql "SELECT count(*) FROM baseline WHERE name = 'x'")" 0
}

# A mistyped --db must not leave an empty store that the next command takes for the right one.
change_of_no_store() {
    local command
    for command in "baseline list" "baseline set x latest" "baseline remove x" "runs remove latest" "runs reject latest --why bad" \
        "runs unreject latest" "noise list" "accept" "accept latest --reason x" "noise remove --node x" "noise --stored a b" "db check" "db vacuum"; do
        # shellcheck disable=SC2086 # words
        exits "$command exits 2" 2 "$KERNSWEEP" $command --db "$TMPDIR/none/results.db"
        like "$command says that there is none" "$ERR" 'none/results.db: no store yet'
        passes "$command makes none" test ! -e "$TMPDIR/none"
    done
}

# The other machine's series would get the results of this one.
transport_to_another_machine() {
    clean_sweep
    exits "--transport local for another machine exits 2" 2 ks_run "$TMPDIR/plan.json" --node 192.0.2.1 --transport local --tag elsewhere
    like "it says so" "$ERR" '--transport: local cannot reach the node 192.0.2.1'
    is "nothing is measured in its name" "$(sql "SELECT count(*) FROM run WHERE node <> 'local'")" 0
    exits "ssh for this machine exits 2, too" 2 ks_run "$TMPDIR/plan.json" --transport openssh --tag elsewhere
    like "it says so as well" "$ERR" '--transport: openssh cannot reach the node local'
}

# Without an end, so that only what stops it can end it.
ENDLESS="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

sql_is_stopped() {
    local began=$SECONDS
    clean_sweep
    try timeout --preserve-status -s INT 1 "$KERNSWEEP" sql "$ENDLESS SELECT count(*) FROM n" --db "$TMPDIR/results.db"
    exited "Ctrl-C ends it with exit code 130" 130
    is "it says so" "$ERR" 'kernsweep: interrupted'
    "$KERNSWEEP" sql "$ENDLESS SELECT i FROM n" --db "$TMPDIR/results.db" 2>"$TMPDIR/sql.err" | head -n 1 >/dev/null
    is "a reader that leaves ends it, too" "${PIPESTATUS[0]} $(cat "$TMPDIR/sql.err")" "0 "
    passes "and neither waits for the time-out of a minute" test $((SECONDS - began)) -lt 50
}

sql_as_json() {
    clean_sweep
    exits "two columns of one name exit 2" 2 ks sql --json "SELECT 1 AS a, 2 AS a"
    like "it says which, and what to do" "$ERR" 'sql: --json: two columns are called "a": rename one with AS'
    exits "the table has room for both" 0 ks sql "SELECT 1 AS a, 2 AS a"
    is "no value is lost: neither infinity nor bytes that are not UTF-8" \
        "$(ks sql --json "SELECT 1e308 * 10 AS big, CAST(x'ff41' AS TEXT) AS odd, NULL AS none" | jq -c .)" \
        '[{"big":null,"none":null,"odd":"\\xffA"}]'
}

# One file that cannot be named does not lose the sweep, and is told of.
odd_file_left() {
    plan_with '.variants = [{name: "odd", run: ["sh", "-c", "echo x >\"$(printf \u0027bad\\377\u0027)\"; echo \u0027[PERF_TIMING] {\"prefill_s\": 0.0001}\u0027"]}]
        | .contexts = [16] | .repetitions = 2 | del(.reference)' "$TMPDIR/odd.json"
    exits "run exits 0" 0 ks_run "$TMPDIR/odd.json" --tag odd
    like "it says what was not brought, and why" "$ERR" '[0-9]+ files? that tests or builds left behind w[a-z]+ not fetched: odd/ctx_16_run1/bad.*xff: its name is not plain text'
    is "its tests are stored" "$(sql "SELECT count(*) FROM test t JOIN run r ON r.id = t.run_id WHERE r.tag = 'odd' AND t.status = 'OK'")" 2
}

scenario "a test that leaves a file that cannot be named" odd_file_left
scenario "a command that is interrupted while it stores" interrupted_while_storing
scenario "options that belong elsewhere" options_that_belong_elsewhere
scenario "a command on a store that does not exist" change_of_no_store
scenario "a transport that does not lead to the node" transport_to_another_machine
scenario "an endless query" sql_is_stopped
scenario "sql --json" sql_as_json
scenario "a store in memory" store_in_memory
scenario "a store on a read-only medium" store_on_read_only_medium
scenario "output that cannot be written" output_that_is_lost
scenario "the format of a report's file" report_file_names
scenario "a plan without sources" sources_unwatched
scenario "output into a pipe, and --json" pipes_and_json
scenario "the help of commands" help_lists_own_options
scenario "the width of help" help_is_narrow
scenario "cancel of a run that has ended" cancel_complete
scenario "cancel latest after a blocked start" cancel_after_blocked
scenario "a run and --node" node_that_is_named
scenario "a first run with a baseline that nobody has set" no_baseline_yet
scenario "the logs of a run" logs_of_tests
scenario "the logs of a live run" logs_of_a_live_run
scenario "the log of a test that ends meanwhile" log_of_a_test_that_ends
scenario "open" open_in_a_browser
scenario "a folder that another run has taken" reused_folder
scenario "a run named by its ticket" run_by_ticket
scenario "lists: limits, orders and notes" lists_of_runs
scenario "run --quiet" quiet_run
scenario "colours" colours
scenario "a run narrowed to one context" narrowed_run
scenario "a run with failed cells as the baseline" baseline_with_failures
scenario "variants of one run, and --fail-on" within_fails_on
scenario "--within a run of one variant" within_one_variant
scenario "a start that the executor refuses" refused_by_executor
scenario "the command of a report's Reproduction" reproduced
scenario "runs of two tickets" runs_of_two_tickets
scenario "a list on a narrow terminal" a_list_on_a_narrow_terminal
done_testing
