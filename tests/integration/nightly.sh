#!/usr/bin/env bash
# Nights of a plan: the first becomes the baseline, the next are compared; one at a time; what was cut short is
# picked up; people are told what they asked for; old bundles go, a baseline's never.
# shellcheck disable=SC2016 # other shells and jq expand these
. tests/lib.sh
. tests/store.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"

# history NAME: plan, store and folders of a scenario's own nights; `night` is the command.
history() {
    dir=$TMPDIR/$1 DB=$TMPDIR/$1/results.db
    plan=$dir/night.json
    told=$dir/told
    mkdir -p "$dir"
    : >"$told"
    night=("$KERNSWEEP" nightly "$plan" --ssh-config "$NODE/ssh_config" --db "$dir/results.db"
        --artifacts "$dir/artifacts" --reports "$dir/nights")
    write_plan 0.5 0.1
}

# write_plan PREFILL SLEEP: a workload whose sources take PREFILL seconds, by its own report, and which takes SLEEP.
write_plan() {
    mkdir -p "$dir/src"
    echo "$1" >"$dir/src/seconds"
    jq -n --arg sleep "$2" --arg told "$told" --arg src "$dir/src" '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "night", node: "loopback", workdir: ($told + "-work"), baseline: "main",
        source: {dir: $src},
        variants: [{name: "a", run: ["sh", "-c",
            "sleep \($sleep); echo \"Prompt tokens: $1\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": $(cat \"$2\"), \\\"attn_impl\\\": \\\"x\\\"}\"",
            "sh", "{context}", "{src}/seconds"]}],
        contexts: [16, 32], timeouts: {default: 20}, repetitions: 2, threshold: {regression: 0.2},
        connect: {timeout_s: 5, patience_s: 1}, retention: {keep_bundles: 1, keep_samples: 1, cache_days: 2},
        notify: [{on: ["always"], run: ["sh", "-c", "echo \"$KERNSWEEP_NEWS $(jq -r .headline)\" >>\"$1\"", "sh", $told]},
                 {on: ["regression"], run: ["sh", "-c", "cp \"$KERNSWEEP_REPORT\" \"$1.report\"; jq -r .lines[] >\"$1.lines\"", "sh", $told]},
                 {on: ["blocked"], run: ["/nonexistent/program"]}]}' >"$plan"
}

nights_stored() {
    sql "SELECT count(*) FROM run WHERE tag = ''"
}

last_news() {
    tail -n 1 "$told" | cut -d ' ' -f 1
}

newest_summary() {
    cat "$dir"/nights/*/"$(sql "SELECT run_id FROM run WHERE purpose = 'sweep' ORDER BY id DESC LIMIT 1")"/summary.json
}

# quiet_nights COUNT
quiet_nights() {
    local n
    for ((n = 0; n < $1; n++)); do "${night[@]}" >/dev/null 2>&1; done
}

# in_background: a night that has begun its run; its pid in NIGHT, its output in $dir/night.out.
in_background() {
    "${night[@]}" >"$dir/night.out" 2>&1 &
    NIGHT=$!
    until_true 20 grep -q 'run .* started' "$dir/night.out"
}

nothing_works() {
    history false
    jq '.variants[0].run = ["false"]' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    exits "exits 1" 1 "${night[@]}"
    like "is not made the baseline, and says so" "$ERR" 'not compared with the baseline: the run has no OK measurement'
    is "is one row of the index, which does not list the bundle beside it" "$(grep -c '^| .* |$' "$dir/nights/index.md")" 3
    like "has its report in the index" "$(cat "$dir/nights/index.md")" 'failure \| 0 of 4 tests ok; nothing to compare with \| \[.report.\]'
}

first_night() {
    history first
    exits "exits 0" 0 "${night[@]}"
    like "becomes the baseline" "$ERR" 'this run is now the baseline'
    exits "lets the second night exit 0" 0 "${night[@]}"
    like "is what the second night is compared with" "$ERR" '0 regressed.*2 unchanged'
    is "is as quiet for those who are notified as the second" "$(cut -d ' ' -f 1 "$told" | tr '\n' ' ')" "quiet quiet "
}

# Where it is another day than in UTC: a night has one date everywhere, which is that of its run id.
other_zone() {
    local zone=WEST+12 day
    [ "$((10#$(date -u +%H)))" -lt 12 ] || zone=EAST-14
    history zone
    exits "exits 0" 0 env TZ="$zone" "${night[@]}"
    day=$(sql "SELECT substr(run_id, 1, 4) || '-' || substr(run_id, 5, 2) || '-' || substr(run_id, 7, 2) FROM run")
    is "is stored under the date of its run id" "$(sql "SELECT date FROM run")" "$day"
    is "has its bundle under that date" "$(ls "$dir/artifacts")" "$day"
    is "has its report under that date" "$(find "$dir/nights" -mindepth 1 -maxdepth 1 -name '20*' -printf '%f\n')" "$day"
    like "says so in its report" "$(cat "$dir/nights/$day"/*/report.md)" "^\*\*Date:\*\* $day "
}

# The plan keeps one bundle, the samples of one run, and two days of cache.
retention() {
    local newest
    history kept
    quiet_nights 2
    mkdir -p "$told-work/src/unused"
    touch -d '5 days ago' "$told-work/src/unused"
    exits "the third night exits 0" 0 "${night[@]}"
    is "every night has a report and a page" "$(find "$dir/nights" -name report.md -o -name report.html | wc -l)" 6
    is "index.md links all reports" "$(grep -c 'report.md)' "$dir/nights/index.md")" 3
    is "index.html links all pages" "$(grep -o 'report.html"' "$dir/nights/index.html" | wc -l)" 3
    is "two bundles stay here, the baseline's and the newest" "$(find "$dir/artifacts" -name manifest.json | wc -l)" 2
    is "two bundles stay on the node" "$(find "$told-work/runs" -mindepth 1 -maxdepth 1 -type d | wc -l)" 2
    is "the store keeps all nights" "$(nights_stored)" 3
    is "the store keeps samples of the baseline's and the newest night" "$(sql "SELECT group_concat(n) FROM
        (SELECT count(telemetry.test_id) n FROM test LEFT JOIN telemetry ON telemetry.test_id = test.id GROUP BY run_id ORDER BY run_id)")" "4,0,4"
    passes "db check finds the store sound" "$KERNSWEEP" db check --db "$dir/results.db"
    passes "sources on the node that nobody used for two days are removed" test ! -e "$told-work/src/unused"
    # The second night's folder is gone, and its name is the fourth's: the newest bundle has the older name.
    exits "the fourth night exits 0" 0 "${night[@]}"
    newest=$(sql "SELECT run_id FROM run WHERE tag = '' ORDER BY id DESC LIMIT 1")
    is "the fourth night's bundle stays" "$(find "$dir/artifacts" -name manifest.json -exec grep -l "$newest" {} + | wc -l)" 1
    is "the third night's bundle is removed" "$(find "$dir/artifacts" -name manifest.json | wc -l)" 2
}

slower() {
    local index
    history slower
    quiet_nights 1
    write_plan 0.9 0.1
    exits "exits 4" 4 "${night[@]}"
    is "notifies of a regression" "$(last_news)" regression
    like "measures the suspects again" "$ERR" 'confirming 2 suspects'
    is "measures them in four turns" "$(sql "SELECT count(*) FROM run WHERE tag = 'confirm'")" 4
    is "gives notifiers a short line for each cell" "$(cat "$told.lines")" "$(printf "a %d: regressed +80.0 %%, confirmed: code, since $(date -u +%F)\n" 16 32)"
    like "gives notifiers the report with what confirming found" "$(cat "$told.report")" 'regressed.*confirmed by measuring both'
    index=$dir/nights/index.html
    like "opens a finding for each cell in the index" "$(grep -o 'class="news bad">regressed.*' "$index")" 'regressed \+80\.0 %.*>a at 16<.*, confirmed: code, since ....-..-..'
    is "has a graph for each cell, with all nights" "$(grep -o 'aria-label="a at [0-9]*: [0-9]* nights' "$index" | cut -d '"' -f 2)" \
        "$(printf 'a at %d: 2 nights\n' 16 32)"
    write_plan 0.5 0.1
    exits "lets a good night after it exit 0" 0 "${night[@]}"
    is "lets a good night after it notify of a recovery" "$(last_news)" recovered
    like "closes the findings" "$(sed -n '/Open findings/,/<h2 id="plan/p' "$index")" '<p class="none">None.</p>'
}

# commit_sources SUBJECT: commits $dir/src; prints the short id.
commit_sources() {
    [ -d "$dir/src/.git" ] || git -C "$dir/src" init -q -b trunk
    git -C "$dir/src" add -A
    git -C "$dir/src" -c user.name=a -c user.email=a@example.org commit -q -m "$1"
    git -C "$dir/src" rev-parse HEAD | cut -c 1-7
}

# Three nights over three commits, the last of which is slower, and a fourth with local changes.
over_commits() {
    local first second third cell
    history commits
    first=$(commit_sources "take half a second")
    quiet_nights 1
    echo "notes" >"$dir/src/notes"
    second=$(commit_sources "add notes")
    quiet_nights 1
    echo 0.9 >"$dir/src/seconds"
    third=$(commit_sources "take *more* time")
    exits "exits 4" 4 "${night[@]}"
    is "names the commit of that night to notifiers" "$(sed 's/.*, with/with/' "$told.lines" | sort -u)" "with $third (take *more* time)"
    like "names the commits since the baseline in the report" "$(cat "$told.report")" "Commits since the base: $first..$third, 2 commits"
    like "names those since the night before in the report" "$(cat "$told.report")" "Commits since the night before: $second..$third, 1 commit"
    like "lists their subjects in the report" "$(cat "$told.report")" "\`$third\` \`take \*more\* time\`"
    like "lists the older subject as well" "$(cat "$told.report")" "\`$second\` \`add notes\`"
    try "$KERNSWEEP" runs --db "$dir/results.db" --purpose sweep
    is "runs shows the commit of each night, the newest first" "$(awk 'NR > 1 {print $8, $9}' <<<"$OUT" | awk '{print $2}' | paste -sd ' ')" "$third $second $first"
    try "$KERNSWEEP" show latest --db "$dir/results.db"
    like "show names commit, branch and subject" "$OUT" "^commit ${third}[0-9a-f]{5} on trunk, [0-9-]{10}: take \*more\* time\$"
    try "$KERNSWEEP" history --variant a --context 16 --db "$dir/results.db"
    like "history names the commit of the first night" "$OUT" "  $first +[0-9]"
    like "history names the commits of the last night" "$OUT" "  $second\.\.$third, 1 commit +[0-9]"
    cell=$("$KERNSWEEP" history --variant a --context 16 --json --db "$dir/results.db")
    is "history --json has the subjects" "$(jq -r '.points[2].commits.commits[].subject' <<<"$cell")" "take *more* time"
    is "compare --json has the range since the base" \
        "$("$KERNSWEEP" compare latest --baseline main --fail-on none --json --db "$dir/results.db" | jq -r '.commits.text + "; " + .commits_of_night.text')" \
        "$first..$third, 2 commits; $second..$third, 1 commit"
    is "export has the commit" "$("$KERNSWEEP" export latest --format json --db "$dir/results.db" | jq -r '.[0] | .commit_id[0:7] + " " + .branch')" "$third trunk"
    echo 0.5 >"$dir/src/seconds"
    exits "lets a night with local changes exit 0" 0 "${night[@]}"
    try "$KERNSWEEP" show latest --json --db "$dir/results.db"
    is "show --json names the file with local changes" "$(jq -c '[.commit.id[0:7], .commit.dirty, .commit.dirty_files]' <<<"$OUT")" "[\"$third\",true,[\"seconds\"]]"
    try "$KERNSWEEP" compare latest --baseline main --db "$dir/results.db"
    like "compare says so" "$OUT" "^Commits since the night before: same commit $third \+ local changes\$"
    is "the runs that confirm claim no commit" "$(sql "SELECT count(*) FROM run_revision v JOIN run r ON r.id = v.run_id WHERE r.purpose = 'confirm'")" 0
    exits "lets the first bundle's plan run again" 0 "$KERNSWEEP" run "$(sql "SELECT bundle FROM run ORDER BY id LIMIT 1")/plan.json" \
        --ssh-config "$NODE/ssh_config" --db "$dir/results.db" --artifacts "$dir/artifacts"
    is "such a run keeps the commit of its bundle" "$(sql "SELECT substr(commit_id, 1, 7) FROM run_revision ORDER BY run_id DESC LIMIT 1")" "$first"
}

refused_repository() {
    history refused
    commit_sources "of somebody else" >/dev/null
    exits "exits 0" 0 env GIT_TEST_ASSUME_DIFFERENT_OWNER=1 "${night[@]}"
    like "says why there is no commit" "$ERR" 'note: the commit of the sources is not recorded: .*dubious ownership'
    is "stores the run without one" "$(sql "SELECT count(*) || (SELECT count(*) FROM run_revision) FROM run")" 10
    like "shows none" "$("$KERNSWEEP" runs --db "$dir/results.db" | tail -n 1)" 'ok *$'
}

# The same sources take longer, whichever build runs.
slower_node() {
    history slower_node
    jq '.variants[0].run[-1] = $seconds' --arg seconds "$dir/seconds" "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    cp "$dir/src/seconds" "$dir/seconds" # the node's, not the sources'
    quiet_nights 1
    echo 0.9 >"$dir/seconds"
    exits "exits 4" 4 "${night[@]}"
    is "notifies of a regression" "$(last_news)" regression
    like "has no cell that regressed" "$(tail -n 1 "$told")" "0 regressed, .*2 inconclusive"
    like "says that it is the node" "$(cat "$dir"/nights/*/*/summary.json)" 'a 16: inconclusive \+80.0 %, the node, not the sources'
}

# One repetition of two takes three times as long.
loaded() {
    jq '.variants[0].run[2] = "i=$(cat \"$3\" 2>/dev/null || echo 0); echo $((i + 1)) >\"$3\"; echo \"Prompt tokens: $1\"; if [ $((i / 2 % 2)) = 0 ]; then s=0.4; else s=1.6; fi; echo \"[PERF_TIMING] {\\\"prefill_s\\\": $s, \\\"attn_impl\\\": \\\"x\\\"}\"" | .variants[0].run += [$calls]' \
        --arg calls "$dir/calls" "$plan" >"$plan.new" && mv "$plan.new" "$plan"
}

too_noisy() {
    history noisy
    quiet_nights 1
    loaded
    exits "exits 0" 0 "${night[@]}"
    is "is told as inconclusive, not as quiet" "$(last_news)" inconclusive
    write_plan 0.9 0.1
    exits "a slower night after it exits 4" 4 "${night[@]}"
    loaded
    exits "a loaded night after that exits 0" 0 "${night[@]}"
    is "the loaded night is told as inconclusive, not as recovered" "$(last_news)" inconclusive
    like "its headline says what is still open" "$(tail -n 1 "$told")" "2 inconclusive; 2 of them open from an earlier night"
    like "its summary names the open cells" "$(cat "$dir"/nights/*/*/summary.json)" 'a 16: inconclusive, open since 20'
    write_plan 0.5 0.1
    exits "a good night at last exits 0" 0 "${night[@]}"
    is "the good night is told as recovered" "$(last_news)" recovered
    exits "another good night exits 0" 0 "${night[@]}"
    is "the other good night is quiet" "$(last_news)" quiet
}

# The baseline is removed while the sources are slow, and the next night becomes the new one.
baseline_replaced() {
    history replaced
    quiet_nights 1
    write_plan 0.9 0.1
    exits "a slower night exits 4" 4 "${night[@]}"
    "$KERNSWEEP" baseline remove main --db "$dir/results.db" >/dev/null 2>&1
    exits "the night that becomes the new baseline exits 0" 0 "${night[@]}"
    is "it is no recovery, since nothing was compared" "$(last_news)" quiet
    like "its summary says what stays open" "$(newest_summary)" "not compared tonight: 2 cells open from earlier nights"
    exits "the next night, as slow, exits 0" 0 "${night[@]}"
    is "it is no recovery either" "$(last_news)" quiet
    like "its summary says why" "$(newest_summary)" "the baseline changed: nothing is open against the new one, which does not show a recovery"
    write_plan 1.5 0.1
    exits "a night slower than the new baseline exits 4" 4 "${night[@]}"
    write_plan 0.9 0.1
    exits "a night as fast as the new baseline exits 0" 0 "${night[@]}"
    is "and is a recovery" "$(last_news)" recovered
}

# Context 32 regressed; the next two nights measure context 16 alone.
not_measured() {
    history unmeasured
    jq '.variants[0].run[2] |= sub("cat ..2."; "cat \"$2-$1\"")' "$plan" >"$dir/both.json"
    jq '.contexts = [16]' "$dir/both.json" >"$dir/half.json"
    cp "$dir/both.json" "$plan"
    echo 0.5 | tee "$dir/src/seconds-16" >"$dir/src/seconds-32"
    quiet_nights 1
    echo 0.9 >"$dir/src/seconds-32"
    exits "a slower night exits 4" 4 "${night[@]}"
    cp "$dir/half.json" "$plan"
    exits "a night without the slow cell exits 0" 0 "${night[@]}"
    is "it is no recovery" "$(last_news)" quiet
    like "its summary says what was not measured" "$(newest_summary)" "not measured tonight: 1 cell open from earlier nights"
    like "the index has the cell as open" "$(sed -n '/Open findings/,/<h2 id="plan/p' "$dir/nights/index.html")" '>open </span>.*a at 32'
    exits "another one exits 0" 0 "${night[@]}"
    is "it is no recovery either" "$(last_news)" quiet
    cp "$dir/both.json" "$plan"
    echo 0.5 >"$dir/src/seconds-32"
    exits "a night in which the cell is fast again exits 0" 0 "${night[@]}"
    is "it is a recovery" "$(last_news)" recovered
}

node_away() {
    history away
    exits "exits 3" 3 "${night[@]}" --node 127.0.0.1:1
    is "notifies that it was blocked" "$(last_news)" blocked
    like "reports a notifier that cannot run in one line" "$ERR" 'notify: cannot run /nonexistent/program'
    like "is in the index without a report" "$(cat "$dir/nights/index.md")" 'blocked.*none'
}

tests_fail() {
    history failing
    quiet_nights 1
    jq '.variants[0].run[2] = "echo broken >&2; exit 9"' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    exits "exits 4, since they worked before" 4 "${night[@]}"
    is "notifies of both a regression and a failure" "$(last_news)" regression,failure
}

tests_fail_without_baseline() {
    history unbased
    jq 'del(.baseline) | .variants[0].run[2] = "echo broken >&2; exit 9"' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    exits "exits 1" 1 "${night[@]}"
    like "is a failure in the index" "$(cat "$dir/nights/index.md")" 'failure \| 0 of 4 tests ok'
}

no_reports() {
    history unreported
    touch "$dir/in-the-way"
    exits "exits 5" 5 "${night[@]}" --reports "$dir/in-the-way"
    exits "lets the next start exit 0" 0 "${night[@]}"
    unlike "is ended by the next start, which measures nothing" "$ERR" 'run .* started'
}

# baselines_of DB: the page of the table that comparing reads and storing does not
baselines_of() {
    sqlite3 "$1" "SELECT rootpage FROM sqlite_schema WHERE name = 'baseline'"
}

damaged_store() {
    history damaged
    quiet_nights 1
    cp "$dir/results.db" "$dir/backup.db"
    head -c 4096 /dev/urandom | dd of="$dir/results.db" bs=4096 seek=$(($(baselines_of "$dir/results.db") - 1)) conv=notrunc 2>/dev/null
    exits "exits 5" 5 "${night[@]}"
    like "says that the store is damaged" "$ERR" 'the store is damaged'
    is "has no report" "$(find "$dir/nights" -name report.html | wc -l)" 1
    cp "$dir/backup.db" "$dir/results.db"
    exits "lets the next night exit 0" 0 "${night[@]}"
    unlike "is ended by it, which measures nothing" "$ERR" 'run .* started'
    is "has its report" "$(find "$dir/nights" -name report.html | wc -l)" 2
    is "is in the store that came back" "$(nights_stored)" 2
    exits "lets the night after that exit 0" 0 "${night[@]}"
    is "is followed by a new run" "$(nights_stored)" 3
}

# A night whose executor always dies, and one whose bundle can never be stored.
set_aside() {
    history set-aside
    write_plan 0.5 1
    jq '.variants = [{name: "deadly", build: [["sh", "-c", "kill -9 $PPID"]], run: ["true"]}] | del(.reference)' "$dir/night.json" \
        >"$dir/deadly.json"
    cp "$dir/night.json" "$dir/good.json"
    cp "$dir/deadly.json" "$dir/night.json"
    exits "exits 3" 3 "${night[@]}"
    like "says that the run is set aside" "$ERR" 'is set aside: the next night starts a new one; `kernsweep attach .*` tries it again'
    cp "$dir/good.json" "$dir/night.json"
    exits "lets the next night exit 0" 0 "${night[@]}"
    unlike "is not resumed by it" "$ERR" 'resuming run'
}

interrupted() {
    history interrupted
    write_plan 0.5 1
    in_background
    kill -INT "$NIGHT"
    wait "$NIGHT"
    is "exits 130" $? 130
    like "prints that the run has not ended" "$(cat "$dir/night.out")" 'has not ended on'
    exits "lets the next start exit 0" 0 "${night[@]}"
    like "has its run resumed by the next start" "$ERR" 'resuming run'
}

killed() {
    history killed
    write_plan 0.5 2
    in_background
    exits "makes a second start exit 3 while it runs" 3 "${night[@]}"
    like "makes a second start name its process and since when it runs" "$ERR" 'pid [0-9]+ on .* since 20'
    kill -9 "$NIGHT"
    wait "$NIGHT" 2>/dev/null
    exits "lets the next start exit 0" 0 "${night[@]}"
    like "has its run resumed by the next start" "$ERR" 'resuming run'
    is "is one run in the store" "$(nights_stored)" 1
    is "has each of its tests once" "$(sql "SELECT count(*) FROM test JOIN run ON run.id = test.run_id WHERE tag = '' GROUP BY run.id" | sort -u)" 4
}

a_day_passes() {
    sqlite3 "$dir/results.db" "UPDATE run SET date = date(date, '-1 day')"
}

# Without a baseline, the ninth night and later ones are judged by those before; two are a finding after twelve others.
judged_without_baseline() {
    history alone
    jq 'del(.baseline) | .contexts = [16]' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    for _ in {1..13}; do
        quiet_nights 1
        a_day_passes
    done
    is "thirteen nights are quiet" "$(sort -u "$told" | cut -d ' ' -f 1 | sort -u)" quiet
    echo 0.6 >"$dir/src/seconds"
    exits "a slower one exits 0" 0 "${night[@]}"
    like "and is told as suspected" "$(tail -n 1 "$told")" "0 regressed, .*1 suspected"
    a_day_passes
    exits "a second one that is as slow exits 4" 4 "${night[@]}"
    is "and is a regression" "$(last_news)" regression
    like "which began on the first of them" "$("$KERNSWEEP" compare latest --fail-on none --db "$dir/results.db")" "open since $(date -u +%F)"
}

scenario "a night of a plan without a baseline" judged_without_baseline
scenario "a first night in which no test works" nothing_works
scenario "the first night" first_night
scenario "a night in another time zone" other_zone
scenario "nights with retention" retention
scenario "a slower night" slower
scenario "a night over commits of a repository" over_commits
scenario "a night over a repository that git refuses" refused_repository
scenario "a night on a slower node" slower_node
scenario "a night that is too noisy" too_noisy
scenario "a night that becomes the new baseline" baseline_replaced
scenario "a night that does not measure an open cell" not_measured
scenario "a night whose node is away" node_away
scenario "a night whose tests fail" tests_fail
scenario "a night whose tests fail, without a baseline" tests_fail_without_baseline
scenario "a night whose reports cannot be written" no_reports
scenario "a night during which the store is damaged" damaged_store
scenario "a night that can never be collected" set_aside
scenario "a night interrupted by SIGINT" interrupted
scenario "a night killed by SIGKILL" killed
done_testing
