#!/usr/bin/env bash
# What the mornings after four nights tell: a repository whose third commit makes one of two cells 8 % slower, and whose fourth is
# innocent, on this machine.
# shellcheck disable=SC2016 # other shells and jq expand these
. tests/lib.sh
. tests/store.sh

# plan FILTER: a plan over $dir/repo, whose notifications are kept in $dir/told, one file for each night.
plan() {
    jq -n --arg dir "$dir" '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "prefill", node: "local", workdir: ($dir + "/work"), baseline: "main",
        source: {dir: ($dir + "/repo")},
        variants: [{name: "v3", build: [["sh", "-c", "cp \"$1\"/kernel-* \"$2\"/", "sh", "{src}", "{build}"]], run: ["sh", "-c",
            "read -r r _ </proc/sys/kernel/random/uuid; n=$((0x${r%%-*} % 400)); echo \"Prompt tokens: $1\"; awk -v s=\"$(cat \"$2/kernel-$1\")\" -v n=$n \u0027BEGIN {printf \"[PERF_TIMING] {\\\"prefill_s\\\": %.6f}\\n\", s * (1 + n / 100000)}\u0027",
            "sh", "{context}", "{build}"]}],
        contexts: [4096, 8192], timeouts: {default: 20}, repetitions: 3, threshold: {regression: 0.05},
        notify: [{on: ["always"], run: ["sh", "-c", "jq -r \".news, .headline, .lines[]\" >\"$1/told.$(ls \"$1\" | grep -c told)\"; cp \"$KERNSWEEP_REPORT\" \"$1/report.md\"", "sh", $dir]}]
    } | '"${1:-.}" >"$dir/night.json"
}

# commit SUBJECT [SECONDS]: a change, which makes the kernel of 8192 take that long; its short id.
commit() {
    [ -z "${2:-}" ] || echo "$2" >"$dir/repo/kernel-8192"
    echo "$1" >>"$dir/repo/notes"
    git -C "$dir/repo" add -A
    git -C "$dir/repo" -c user.name=a -c user.email=a@example.org commit -q -m "$1"
    git -C "$dir/repo" rev-parse HEAD | cut -c 1-7
}

# Everything that the store has was a day earlier.
a_day_passes() {
    sql "UPDATE run SET date = date(date, '-1 day'), started_at = started_at - 86400000, ended_at = ended_at - 86400000,
        ordered_at = ordered_at - 86400000; UPDATE bisect SET started_at = started_at - 86400000, ended_at = ended_at - 86400000"
}

night() {
    ks nightly "$dir/night.json" --artifacts "$dir/artifacts" --reports "$dir/nights"
}

told() {
    cat "$dir/told.$1"
}

# four_nights NAME [FILTER [SUBJECT [CODE]]]: leaves the short ids of the commits in second, slow and innocent; with a
# SUBJECT, the third night has a commit of that before the slow one. The last night exits with CODE, else with 4.
four_nights() {
    dir=$TMPDIR/$1 DB=$TMPDIR/$1/results.db
    mkdir -p "$dir/repo"
    git -C "$dir/repo" init -q -b trunk
    echo 1.0 >"$dir/repo/kernel-4096"
    plan "${2:-}"
    commit "add a kernel" 2.0 >/dev/null
    night >"$dir/log" 2>&1
    a_day_passes
    second=$(commit "write notes")
    night >>"$dir/log" 2>&1
    a_day_passes
    [ -z "${3:-}" ] || commit "$3" >/dev/null
    slow=$(commit "unroll the inner loop" 2.16)
    exits "the third night exits 4" 4 night
    a_day_passes
    innocent=$(commit "mend a comment")
    exits "the fourth night exits ${4:-4}" "${4:-4}" night
    since=$(date -u -d yesterday +%F)
    size='\+(7\.[5-9]|8\.[0-5]) %'
}

# What the report, the index and the notification of the fourth night have to say of the cell.
says_of_the_cell() {
    like "the log says it in one line" "$ERR" "^  v3 8192: regressed $size, confirmed( \(tonight \+[78]\.[0-9] %\))?: code, $1$"
    like "the notification says it in one line" "$(told 3)" "^v3 8192: regressed $size, confirmed( \(tonight \+[78]\.[0-9] %\))?: code, $1$"
    unlike "no line names the innocent commit" "$(told 3)" "$innocent"
    like "so does the index" "$(sed -n '/Open findings/,/<h2 id="plan/p' "$dir/nights/index.html" | sed 's/<[^>]*>//g')" "regressed $size v3 at 8192 .*: code, $1"
    like "the report says since when" "$(cat "$dir/report.md")" "\`v3\` at 8192: \*\*regressed\*\*, .* Open ${2:-$1}\.$"
    unlike "what was measured again is not advised" "$(sed -n '/^## Next steps/,/^## Plots/p' "$dir/report.md")" '--confirm'
}

by_baseline() {
    four_nights base
    says_of_the_cell "since $since, with $slow \(unroll the inner loop\)" "since $since, with \`$slow\` \(\`unroll the inner loop\`\)"
    like "compare says since when in JSON" "$(ks compare latest --baseline main --fail-on none --json | jq -r '.cells[] | select(.context == 8192) | .since')" "^$since$"
}

# Two commits on the third night: which of them it was is found by that night's search.
by_search() {
    four_nights search '.confirm = {bisect: true}' "rename a variable"
    like "the third night tells the commit, too" "$(told 2)" "^v3 8192: regressed .*, because of $slow \(unroll the inner loop\), found by bisecting$"
    says_of_the_cell "since $since, because of $slow \(unroll the inner loop\), found by bisecting" \
        "since $since, because of \`$slow\` \(\`unroll the inner loop\`\), found by bisecting"
    like "the next step is to look at it" "$(cat "$dir/report.md")" "^- \*\*Look at commit \`$slow\`\*\*"
    unlike "and not to look for it" "$(cat "$dir/report.md")" "Look for the change in the code"
}

# Two commits, and nobody searches.
by_range() {
    four_nights range '.confirm = {bisect: false}' "rename a variable"
    says_of_the_cell "since $since \($second\.\.$slow, 2 commits\)"
}

# The workload breaks on the third night.
broken() {
    four_nights broken '.variants[0].run[2] |= "[ \"$(cat \"$2/kernel-$1\")\" != 2.16 ] || { echo \"misaligned address\" >\u00262; exit 3; }; " + .' "" 1
    like "the notification says since when and with which commit" "$(told 3)" "^v3 8192: still FAIL, since $since, with $slow \(unroll the inner loop\)$"
}

scenario "four nights against a baseline" by_baseline
scenario "four nights with a search" by_search
scenario "four nights with two commits on one" by_range
scenario "four nights of which the third breaks" broken
done_testing
