#!/usr/bin/env bash
# ab and bisect, on a repository that the test makes and a node whose noise the test sets.
# timeout: 1800
# unsanitized: two thousand starts of the command, which a sanitizer makes twenty minutes; unit/test_bisect has its rules
. tests/lib.sh
. tests/store.sh

REPO=$TMPDIR/repo

ab() {
    ks ab "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" "$@"
}

bisect() {
    ks bisect "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" "$@"
}

in_repo() {
    git -C "$REPO" -c user.name=A -c user.email=a@example.org "$@" >/dev/null 2>&1
}

# commit N [SUBJECT]: commits what the sources are, as number N.
commit() {
    echo "$1" >"$REPO/src/number"
    in_repo add -A && in_repo commit -q -m "${2:-change $1}" && in_repo tag "c$1"
}

# The build is the "machine code": what it copies out of the sources. The commit's number is no part of it.
make_repo() {
    mkdir -p "$REPO/src"
    in_repo init -q -b main
    cat >"$REPO/src/build.sh" <<'SH'
#!/bin/sh
# build.sh SRC BUILD COUNTS
grep -q broken "$1/code" && { echo "error: broken"; exit 1; }
echo built >>"$3/builds"
cp "$1/code" "$1/run.awk" "$2/"
SH
    cat >"$REPO/src/run.awk" <<'AWK'
#!/usr/bin/awk -f
# run.awk BUILD HERE CONTEXT
# Claims to have taken as long as the code says, times noise of 1.5 % or what the file "noise" says. The noise is the next line
# of the file "draws", if there is one. Fails as often as the file "fails-WORD" says, where WORD is the second one of the code;
# from then on everything takes half as long again.
function digit(at) { return index("0123456789abcdef", substr(random, at, 1)) - 1 }
function pop(file) { system("sed -i 1d " file) }
BEGIN {
    here = ARGV[2]
    print "Prompt tokens: " ARGV[3]
    getline line <(ARGV[1] "/code")
    split(line, word, " ")
    fails = here "/fails-" word[2]
    if ((getline line <fails) > 0) {
        system("touch " here "/slowed")
        pop(fails)
        exit 1
    }
    if ((getline bytes <(here "/draws")) > 0) {
        pop(here "/draws")
    } else {
        getline random <"/proc/sys/kernel/random/uuid"
        random = substr(random, 1, 8) substr(random, 10, 4) substr(random, 25) # without what no UUID leaves to chance
        for (i = 1; i < length(random); i += 2) bytes = bytes " " 16 * digit(i) + digit(i + 1)
    }
    if ((getline line <(here "/slowed")) >= 0) word[1] *= 1.5
    noise = 0.015
    if ((getline line <(here "/noise")) > 0) noise = line
    split(bytes, byte, " ") # twelve numbers, whose sum is almost normal
    for (i = 1; i <= 12; i++) sum += byte[i] / 255
    printf "[PERF_TIMING] {\"prefill_s\": %.6f, \"attn_impl\": \"fake\"}\n", word[1] * (1 + noise * (sum - 6))
}
AWK
    chmod +x "$REPO/src/build.sh" "$REPO/src/run.awk"
}

# Twelve commits after the first: 5 does not build, 8 is 8 % slower, 10 changes only a comment.
twelve_commits() {
    local i
    make_repo
    for i in $(seq 0 12); do
        case $i in
        5) echo "1.0 broken $i" ;;
        8 | 9) echo "1.08 v$i" ;;
        10) echo "1.08 v9" ;;
        11 | 12) echo "1.08 v$i" ;;
        *) echo "1.0 v$i" ;;
        esac >"$REPO/src/code"
        commit "$i" "$([ "$i" = 8 ] && echo 'attention: a | "quoted" <b>subject</b>' || echo "change $i")"
    done
    cat >"$TMPDIR/plan.json" <<EOT
{
  "schema": "kernsweep.plan/1", "clock": "simulated", "ticket": "bisect", "node": "local", "workdir": "$TMPDIR/work",
  "source": {"dir": "$REPO/src"},
  "variants": [{"name": "a", "attn_impl": "fake", "build": [["{src}/build.sh", "{src}", "{build}", "$TMPDIR"]],
    "run": ["{build}/run.awk", "{build}", "$TMPDIR", "{context}"]}],
  "contexts": [64], "repetitions": 5, "timeouts": {"default": 30}
}
EOT
}

# fresh NAME: a store of the scenario's own.
fresh() {
    needs twelve_commits
    in_repo checkout -q -f main
    DB=$TMPDIR/$1/results.db
    mkdir -p "$TMPDIR/$1"
    rm -f "$TMPDIR"/{noise,slowed,fails-*}
}

ab_regression() {
    fresh ab
    exits "exits 4" 4 ab --base c7 --head c8
    like "names the commits" "$OUT" "^head +$(git -C "$REPO" rev-parse --short=12 c8) +attention"
    like "says by how much" "$OUT" "64 +a .*\\+[6-9]\\..* % +regressed"
    is "every run has the purpose ab" "$(sql "SELECT DISTINCT purpose FROM run")" ab
    is "every run records its commit, and no local changes" \
        "$(sql "SELECT DISTINCT commit_id || dirty FROM run_revision" | sort | paste -sd ' ')" "$(printf '%s0\n' "$(git -C "$REPO" rev-parse c7)" "$(git -C "$REPO" rev-parse c8)" | sort | paste -sd ' ')"
    is "none lacks it" "$(sql "SELECT count(*) FROM run WHERE id NOT IN (SELECT run_id FROM run_revision)")" 0
    is "the exported trees are gone" "$(find "$TMPDIR/ab/trees" -mindepth 1 | wc -l)" 0
    exits "--markdown exits 4" 4 ab --base c7 --head c8 --markdown
    # shellcheck disable=SC2016 # Markdown
    like "the comment begins with the outcome" "$(head -n 1 <<<"$OUT")" '^\*\*kernsweep\*\* `bisect`: \*\*REGRESSED\*\*, 1 regressed$'
    # shellcheck disable=SC2016 # Markdown
    like "the comment escapes the subject" "$OUT" '`attention: a | "quoted" <b>subject</b>`'
    exits "--json exits 4" 4 ab --base c7 --head c8 --json
    is "--json has the verdict and the commits" "$(jq -r '[.cells[0].verdict, .head.commit, .outcome, .exit_code] | @csv' <<<"$OUT")" \
        "\"regressed\",\"$(git -C "$REPO" rev-parse c8)\",\"REGRESSED\",4"
    is "the base was measured against itself" "$(jq '.cells[0].control | . > 0.98 and . < 1.02' <<<"$OUT")" true
    exits "the other way round exits 0" 0 ab --base c8 --head c7
    like "an improvement takes two rounds, too" "$OUT" "^PASS: 1 improved; measured alternately, [23] rounds"
}

ab_equal() {
    fresh equal
    echo 0.002 >"$TMPDIR/noise"
    exits "commits of the same code exit 0" 0 ab --base c9 --head c10
    like "nothing is measured" "$OUT" "^PASS: same machine code, nothing to measure"
    is "both are built, and nothing is timed" "$(sql "SELECT count(*), (SELECT count(*) FROM test) FROM run")" "2|0"
    exits "--force measures" 0 ab --base c9 --head c10 --force --rounds 1
    is "--force takes a round" "$(sql "SELECT count(DISTINCT run_id) FROM test")" 4
    exits "a head that does not build exits 1" 1 ab --base c4 --head c5
    like "a head that does not build is broken" "$OUT" "broken"
    exits "two sides that do not build exit 1" 1 ab --base c5 --head c5
    echo 0.4 >"$TMPDIR/noise"
    exits "too much noise to tell exits 6" 6 ab --base c9 --head c10 --force --rounds 1
    like "and says so" "$OUT" "^INCONCLUSIVE: 1 inconclusive; measured alternately, 1 round$"
}

# Of three cells, a budget leaves one out by what the plan's last run took; the plan's smoke cell is never left out.
ab_budget() {
    fresh budget
    echo 0.002 >"$TMPDIR/noise"
    jq '.contexts = [16, 32, 64] | .smoke = [{context: 64}] | .timeouts = {default: 60}' "$TMPDIR/plan.json" >"$TMPDIR/three.json"
    exits "the plan is run" 0 ks run "$TMPDIR/three.json" --artifacts "$TMPDIR/artifacts"
    sql "UPDATE test SET wall_s = CASE WHEN series_id IN (SELECT id FROM series WHERE context_len = 16) THEN 0.1 ELSE 1000 END"
    exits "what was left out is undecided" 6 ks ab "$TMPDIR/three.json" --artifacts "$TMPDIR/artifacts" --base c9 --head c10 --force --budget 10m
    is "the smoke cell and one other are measured" "$(sql "SELECT DISTINCT context_len FROM test t JOIN series c ON c.id = t.series_id
        JOIN run r ON r.id = t.run_id WHERE r.purpose = 'ab' ORDER BY 1" | xargs)" "16 64"
    like "the third is listed" "$OUT" '^ *32 .* inconclusive +left out by the budget$'
    like "and counted" "$OUT" '^INCONCLUSIVE: 2 unchanged, 1 inconclusive \(1 left out by the budget\); '
    exits "the tier alone passes" 0 ks ab "$TMPDIR/three.json" --artifacts "$TMPDIR/artifacts" --base c9 --head c10 --force --tier smoke
    exits "a budget that is none exits 2" 2 ks ab "$TMPDIR/three.json" --base c9 --head c10 --budget soon
}

ab_sides() {
    local run
    fresh sides
    echo 0.002 >"$TMPDIR/noise"
    exits "a folder against the plan's sources exits 0" 0 ab --base "dir:$REPO/src" --rounds 1
    run=$(sql "SELECT run_id FROM run ORDER BY id LIMIT 1")
    exits "a stored run against a commit exits 4" 4 ab --base c1 --head "run:$run"
    exits "a toolchain's setting exits 0" 0 ab --base-env CXX=clang++-18 --rounds 1
    unlike "a setting is measured, though the machine code is the same" "$OUT" "nothing to measure"
    is "the setting is in the run's environment" "$(sql "SELECT count(*) FROM run r JOIN fact f USING (environment_id) WHERE f.key = 'env.CXX'")" 3
    exits "no side exits 2" 2 ab
    exits "an unknown revision exits 2" 2 ab --base nowhere
    like "an unknown revision is named" "$ERR" 'no commit "nowhere"'
    exits "an option as revision exits 2" 2 ab --base=--all
    exits "a setting without a name exits 2" 2 ab --base-env =x
}

id_of() {
    git -C "$REPO" rev-parse "$1"
}

answer() {
    ks bisect --show --json | jq -r '.answer | .outcome + " " + .first'
}

bisect_found() {
    local pairs
    fresh found
    rm -rf "$TMPDIR/builds" "$TMPDIR/work"
    exits "exits 0" 0 bisect --good c0 --bad c12
    like "the answer is the slow commit and the subject is shown" "$OUT" "^  $(id_of c8 | cut -c 1-12)  2.*attention: a \\| \"quoted\" <b>subject</b>"
    like "the answer says how much slower" "$(head -n 1 <<<"$OUT")" "^found $(id_of c8 | cut -c 1-12): a 64: prefill_s \\+([4-9]|1[0-2])[.]"
    is "the store has the answer" "$(sql "SELECT outcome FROM bisect")" found
    is "--show has it too" "$(answer)" "found $(id_of c8)"
    is "every run has the purpose bisect" "$(sql "SELECT DISTINCT purpose FROM run")" bisect
    pairs=$(ks bisect --show --json | jq .pairs)
    passes "it takes no more pairs of builds than promised ($pairs)" test "$pairs" -le 11
    is "every commit is built once" "$(sort "$TMPDIR/builds" | wc -l)" "$(ks bisect --show --json | jq '[.commits[] | select(.built and .basis != "build")] | length')"
    like "the report names the commit" "$(cat "$TMPDIR"/artifacts/bisect-bisect-*.md)" "^- \`$(id_of c8)\` of 20"
    like "--list shows it" "$(ks bisect --list)" " found$"
    exits "the same command has the answer already" 0 bisect --good c0 --bad c12
    like "and says so" "$ERR" "already has its answer"
    is "nothing was left of the exported trees" "$(find "$TMPDIR/found/trees" -mindepth 1 | wc -l)" 0
}

# c5, which does not build, is the middle of these ends.
bisect_skips() {
    fresh skips
    exits "exits 0" 0 bisect --good c2 --bad c8 --json
    is "the commit that does not build is skipped" "$(jq -r '.commits[] | select(.mark == "skipped") | .commit + " " + .basis' <<<"$OUT")" "$(id_of c5) build"
    like "and the build's error is the reason" "$(jq -r '.commits[3].reason' <<<"$OUT")" "BUILD_FAILED: build command 1"
    is "the answer is the slow commit" "$(jq -r .answer.first <<<"$OUT")" "$(id_of c8)"
    exits "a bad end that does not build exits 1" 1 bisect --good c4 --bad c5
    like "and is named" "$OUT" "^stopped: the bad end $(id_of c5 | cut -c 1-12) cannot be measured"
}

# In a round, each side has ten tests. The node is much slower in the second round than in the first.
bisect_fails_once() {
    fresh fails
    echo 0.002 >"$TMPDIR/noise"
    seq 10 >"$TMPDIR/fails-v7"
    exits "exits 0" 0 bisect --good c0 --bad c12 --json
    is "the commit that failed in one round is measured again" \
        "$(jq -r '.commits[7] | "\(.mark) \(.basis) \(.rounds)"' <<<"$OUT")" "good turns 2"
    is "the answer is the slow commit" "$(jq -r '.answer | .outcome + " " + .first' <<<"$OUT")" "found $(id_of c8)"
    seq 1000 >"$TMPDIR/fails-v7"
    exits "one that fails again exits 0" 0 bisect --good c6 --bad c9 --fresh --json
    like "it is skipped after two rounds" "$(jq -r '.commits[1] | "\(.mark) \(.basis) \(.reason)"' <<<"$OUT")" \
        '^skipped tests it has no valid measurement of prefill_s, in 2 rounds; '
    is "the answer is a range" "$(jq -r '.answer | "\(.outcome) \(.commits | length)"' <<<"$OUT")" "range 2"
    seq 10 >"$TMPDIR/fails-v6"
    rm "$TMPDIR/fails-v7"
    exits "a good end that failed in one round exits 0" 0 bisect --good c6 --bad c9 --fresh --json
    is "the answer is the slow commit again" "$(jq -r '.answer | .outcome + " " + .first' <<<"$OUT")" "found $(id_of c8)"
}

# Both become slower in c8, but only one of them is followed.
bisect_two_cells() {
    fresh cells
    echo 0.002 >"$TMPDIR/noise"
    jq '.variants += [.variants[0] | .name = "b"]' "$TMPDIR/plan.json" >"$TMPDIR/two.json"
    exits "exits 0" 0 ks bisect "$TMPDIR/two.json" --artifacts "$TMPDIR/cells" --good c6 --bad c8
    like "the other cell is named" "$OUT" \
        "^slower at the bad end, too: [ab] 64: prefill_s \\+[78]"
    like "and not blamed on the commit" "$OUT" "^  perhaps because of another commit: --variant and --point search for one of them"
    like "so does the report" "$(cat "$TMPDIR"/cells/bisect-*.md)" "^The search followed the first of them. The others may be slower because of another commit"
}

# A branch from before the good end, which made things faster: merged later, it is slow and made nothing slower.
bisect_old_branch() {
    needs twelve_commits
    fresh old
    in_repo checkout -q -b before c8
    echo "1.08 old1" >"$REPO/src/code" && commit old1
    echo "1.08 old2" >"$REPO/src/code" && commit old2
    in_repo checkout -q -b after c8
    echo "1.0 faster" >"$REPO/src/code" && commit faster
    in_repo merge -q --no-ff --no-commit -X ours before
    echo "1.0 merged" >"$REPO/src/code" && commit merged
    echo "1.0 later" >"$REPO/src/code" && commit later
    echo "1.08 slow" >"$REPO/src/code" && commit slow
    in_repo checkout -q main
    exits "exits 0" 0 bisect --good cfaster --bad cslow --json
    is "the answer is the commit that made it slower" "$(jq -r '.answer | .outcome + " " + .first' <<<"$OUT")" "found $(id_of cslow)"
}

# The good end lies on a branch that m7 merges. Whether m5 made things slower, or was slow by then, stays open: m7 is slow.
bisect_first_parent() {
    needs twelve_commits
    fresh first
    in_repo checkout -q -b m c0
    echo "1.0 s" >"$REPO/src/code" && commit m1
    in_repo checkout -q -b s m
    echo "1.0 s2" >"$REPO/src/code" && commit s2
    in_repo checkout -q m
    echo "1.08 m5" >"$REPO/src/code" && commit m5
    echo "1.08 m6" >"$REPO/src/code" && commit m6
    in_repo merge -q --no-ff --no-commit -X ours s
    echo "1.08 m7" >"$REPO/src/code" && commit m7
    echo "1.08 m8" >"$REPO/src/code" && commit m8
    echo "1.08 m9" >"$REPO/src/code" && commit m9
    in_repo checkout -q main
    exits "exits 0" 0 bisect --good cs2 --bad cm9 --first-parent --json
    is "the range ends with the merge" "$(jq -r '.answer | .outcome + " " + .last' <<<"$OUT")" "range $(id_of cm7)"
    is "and has what it may have brought" "$(jq -r '.answer.commits | length' <<<"$OUT")" 3
}

# c6 makes things slower and leaves "kern" as it is, which only c2, c5, c8 and c10 change: c8 is as slow as c7.
bisect_path() {
    local i
    fresh path
    echo 0.002 >"$TMPDIR/noise"
    in_repo checkout -q --orphan path c0
    for i in $(seq 0 12); do
        echo "$([ "$i" -lt 6 ] && echo 1.0 || echo 1.08) p$i" >"$REPO/src/code"
        case $i in 0 | 2 | 5 | 8 | 10) echo "$i" >"$REPO/src/kern" ;; esac
        commit "p$i"
    done
    in_repo checkout -q main
    exits "exits 0" 0 bisect --good cp0 --bad cp12 --path kern
    like "the answer has the commits in between" "$OUT" \
        "^found $(id_of cp8 | cut -c 1-12), or one of the 2 commits up to it that do not change kern: a 64: prefill_s"
    is "so has --show" "$(ks bisect --show | head -n 1)" "$(head -n 1 <<<"$OUT")"
    is "and --json" "$(ks bisect --show --json | jq .answer.unlisted)" 2
    exits "without commits in between, exits 0" 0 bisect --good cp4 --bad cp6 --path code
    like "the answer is one commit" "$OUT" "^found $(id_of cp6 | cut -c 1-12): a 64: prefill_s"
}

bisect_same_code() {
    fresh same
    exits "ends of the same machine code exit 0" 0 bisect --good c9 --bad c10
    like "and are not reproducible" "$OUT" "^not reproducible: both ends have the same machine code"
    is "nothing was timed" "$(sql "SELECT count(*) FROM test")" 0
    exits "ends that do not differ exit 0" 0 bisect --good c0 --bad c4
    like "and are not reproducible either" "$OUT" "^not reproducible: measured alternately, the bad end is not slower"
    exits "the slow commit between commits of other code" 0 bisect --good c7 --bad c10 --json
    is "is found" "$(jq -r .answer.first <<<"$OUT")" "$(id_of c8)"
}

# Two thousand lines of twelve bytes, always the same.
draws() {
    awk 'BEGIN { for (x = 1; i < 24000; i++) { x = x * 16807 % 2147483647; printf "%d%s", x % 256, i % 12 == 11 ? "\n" : " " } }'
}

# A wild node decides nothing; when it is calm again, a new search does. Its noise is always the same: now and then, 30 % of it look
# like a difference, and one round does not tell two commits apart.
bisect_noise() {
    fresh noisy
    echo 0.3 >"$TMPDIR/noise"
    draws >"$TMPDIR/draws"
    exits "a noisy node finds no difference" 0 bisect --good c0 --bad c12 --rounds 1
    unlike "and names no commit" "$OUT" "^found "
    is "its noise was the one that is always the same" "$(($(wc -l <"$TMPDIR/draws") < 2000))" 1
    rm "$TMPDIR/noise"
    exits "--fresh searches again" 0 bisect --good c0 --bad c12 --rounds 1 --fresh
    is "and finds it" "$(answer | cut -d ' ' -f 2)" "$(id_of c8)"
    rm "$TMPDIR/draws"
}

# killed_after N: begins the search, or goes on with it, and kills it once the store has N runs.
killed_after() {
    local pid tries=0
    "$KERNSWEEP" bisect "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" --db "$DB" --good c0 --bad c12 >/dev/null 2>&1 &
    pid=$!
    while [ $((tries += 1)) -lt 1200 ] && [ "$(sql "SELECT count(*) FROM run" 2>/dev/null || echo 0)" -lt "$1" ]; do sleep 0.05; done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
}

# Killed while it builds, while it measures the ends and while it searches; and once the node cannot be reached.
bisect_killed() {
    fresh killed
    killed_after 1
    killed_after 4
    killed_after 9
    is "it is not finished" "$(sql "SELECT count(*) FROM bisect WHERE ended_at IS NULL")" 1
    passes "the executor of the last run ends by itself" until_true 30 sh -c "! pgrep -f '^$TMPDIR/work/bin/'"
    mv "$TMPDIR/work" "$TMPDIR/away"
    : >"$TMPDIR/work"
    exits "an unreachable node exits 3" 3 ks bisect --continue
    like "and the message says how to go on" "$ERR" "kernsweep bisect --continue bisect-"
    rm "$TMPDIR/work"
    mv "$TMPDIR/away" "$TMPDIR/work"
    exits "the same command goes on" 0 bisect --good c0 --bad c12
    like "and says so" "$ERR" "resumes where it stopped"
    is "the answer is the slow commit" "$(answer)" "found $(id_of c8)"
    is "it took no more pairs of builds than promised" "$(ks bisect --show --json | jq '.pairs <= .pairs_max')" true
}

record_in() {
    grep -l "\"state\": \"$1\"" "$TMPDIR"/start/runs/*.json 2>/dev/null
}

# Killed after the node took a run and before that was noted; and before the node had one.
bisect_killed_at_a_start() {
    local pid record run never=99991231T000000Z-bisect-00000000
    fresh start
    "$KERNSWEEP" bisect "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" --db "$DB" --good c6 --bad c9 >/dev/null 2>&1 &
    pid=$!
    until record_in running >/dev/null; do kill -0 "$pid" || break; done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    record=$(record_in running)
    run=$(jq -r .run_id "$record")
    jq '.state = "starting"' "$record" >"$TMPDIR/record" && mv "$TMPDIR/record" "$record"
    exits "the same command goes on" 0 bisect --good c6 --bad c9
    is "the run that the node had is stored" "$(sql "SELECT status FROM run WHERE run_id = '$run'")" COMPLETE
    is "its record says so" "$(jq -r .state "$record")" ingested
    jq --arg run "$never" '.run_id = $run | .bundle += "-never" | .state = "starting"' "$record" >"$TMPDIR/start/runs/$never.json"
    exits "--fresh searches again" 0 bisect --good c6 --bad c9 --fresh
    is "the record of a run that the node never had is gone" "$(ls "$TMPDIR/start/runs/$never.json" 2>/dev/null)" ""
}

# Half of a search by one plan, and half by one in which all commits are equal, would blame the last commit.
bisect_of_another_plan() {
    local name
    fresh other
    echo 0.002 >"$TMPDIR/noise"
    cp "$TMPDIR/plan.json" "$TMPDIR/other/plan.json"
    killed_after 7
    name=$(sql "SELECT name FROM bisect")
    # shellcheck disable=SC2016 # jq's
    jq '.variants[0].run = ["sh", "-c", "echo Prompt tokens: $0; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"attn_impl\\\": \\\"fake\\\"}\"", "{context}"]' \
        "$TMPDIR/other/plan.json" >"$TMPDIR/plan.json"
    exits "--continue after the plan changed exits 2" 2 ks bisect --continue
    like "and is explained" "$ERR" "plan.json: changed since the search began"
    exits "the same command exits 0" 0 bisect --good c0 --bad c12
    like "and says that it is another search" "$ERR" "^bisect $name of the same commits is unfinished"
    like "which finds what this plan measures" "$OUT" "^not reproducible: measured alternately, the bad end is not slower"
    cp "$TMPDIR/other/plan.json" "$TMPDIR/plan.json"
    exits "with the old plan, the old search goes on" 0 ks bisect --continue "$name"
    like "and has its answer" "$OUT" "^found $(id_of c8 | cut -c 1-12)"
}

bisect_detached() {
    fresh detached
    exits "--detach exits 0" 0 bisect --good c6 --bad c9 --detach
    like "--detach prints the name of the search" "$OUT" "^bisect-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{6}$"
    exits "--continue waits for it" 0 ks bisect --continue
    is "and has the answer" "$(answer)" "found $(id_of c8)"
}

# night COMMIT: a nightly run with this commit checked out.
night() {
    in_repo checkout -q "$1"
    ks nightly "$TMPDIR/night.json" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/nightly/reports"
}

# first_night NAME [FILTER]: a store of the scenario's own with a night of c6, by a plan that searches
first_night() {
    fresh "$1"
    echo 0.003 >"$TMPDIR/noise"
    jq ".baseline = \"gold\" | .confirm = {bisect: true} | ${2:-.}" "$TMPDIR/plan.json" >"$TMPDIR/night.json"
    exits "the first night exits 0" 0 night c6
}

nightly_search() {
    first_night nightly
    exits "a slower night exits 4" 4 night c9
    like "the night says which commit it was" "$ERR" "^bisect: found $(id_of c8 | cut -c 1-12): a 64: prefill_s"
    is "so does the store" "$(sql "SELECT outcome FROM bisect")" found
    is "the runs of the search know their commits" "$(sql "SELECT count(DISTINCT v.commit_id) FROM run_revision v JOIN run r ON r.id = v.run_id
        WHERE r.purpose = 'bisect'")" 4
    exits "the next night is slow too and exits 4" 4 night c11
    is "and searches nothing again" "$(sql "SELECT count(*) FROM bisect")" 1
}

# Commits d0 to d6 of two kernels, "code" and "code2": d2 makes the first one slower, d5 the second one. Variants a and c run the first
# one, b the second one.
two_causes() {
    local i
    in_repo checkout -q --orphan two c0
    for i in 0 1 2 3 4 5 6; do
        echo "$([ "$i" -lt 2 ] && echo 1.0 || echo 1.08) d$i" >"$REPO/src/code"
        echo "$([ "$i" -lt 5 ] && echo 1.0 || echo 1.12) e$i" >"$REPO/src/code2"
        commit "d$i"
    done
    in_repo checkout -q main
    # shellcheck disable=SC2016 # the build's
    jq --arg sh 'cp "$0/run.awk" "$1/" && cp "$0/code2" "$1/code"' '.baseline = "gold" | .confirm = {bisect: true} | .variants += [
        (.variants[0] | .name = "b" | .build = [["sh", "-c", $sh, "{src}", "{build}"]]), (.variants[0] | .name = "c")]' \
        "$TMPDIR/plan.json" >"$TMPDIR/night.json"
}

# of_two_causes NAME: a store of the scenario's own with a night of d0; d2 and d5 are what makes later ones slower, and all_causes
# says which cells. The noise decides which of them is the clearest.
of_two_causes() {
    fresh "$1"
    needs two_causes
    d2=$(id_of cd2 | cut -c 1-12)
    d5=$(id_of cd5 | cut -c 1-12)
    all_causes="$d2 a 64"$'\n'"$d5 b 64"$'\n'"$d2 c 64"
    echo 0.003 >"$TMPDIR/noise"
    exits "the first night exits 0" 0 night cd0
}

# What a night's searches say of each cell, in the order of the cells.
causes() {
    local line
    grep -E '^bisect: found [0-9a-f]{12}' <<<"$1" | while read -r _ _ line; do
        grep -oE '[abc] 64' <<<"$line" | sed "s/^/${line:0:12} /"
    done | sort -k 2
}

# The clearest cell is followed first. The commit that it finds is then measured for the others, and those that it does not explain
# are searched for, too.
nightly_two_causes() {
    of_two_causes causes
    exits "a slower night exits 4" 4 night cd6
    is "every cell has its commit" "$(causes "$ERR")" "$all_causes"
    like "the commit of the first cell is ruled out for the others" "$ERR" "^bisect: ($d5 does not explain a 64, c 64|$d2 does not explain b 64)$"
    unlike "no cell is left" "$ERR" "not followed"
    is "every search has its answer" "$(sql "SELECT count(*) FROM bisect WHERE ended_at IS NULL")" 0
    exits "the next night is slow too and exits 4" 4 night cd6
    unlike "and searches nothing again" "$ERR" "^bisect: "
}

# Interrupted once the first cell has its commit, the night tells which cells lack theirs, and the next start ends it.
nightly_interrupted_between_cells() {
    local pid told first rest tries=0
    of_two_causes between
    in_repo checkout -q cd6
    "$KERNSWEEP" nightly "$TMPDIR/night.json" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/between/reports" --db "$DB" \
        >/dev/null 2>"$TMPDIR/between/told" &
    pid=$!
    while [ $((tries += 1)) -lt 2400 ] && [ "$(sql "SELECT count(*) FROM bisect" 2>/dev/null || echo 0)" -lt 2 ]; do sleep 0.05; done
    kill -TERM "$pid"
    wait "$pid"
    is "it ends with 130" $? 130
    told=$(cat "$TMPDIR/between/told")
    first=$(causes "$told")
    rest=$(grep -vxF "$first" <<<"$all_causes")
    is "one cell has its commit" "$(grep -cxF "$first" <<<"$all_causes")" 1
    like "the others are named" "$told" "^bisect: not yet bisected: $(cut -d ' ' -f 2- <<<"$rest" | paste -sd ';' |
        sed 's/;/, /'): another commit may be the cause; the next night goes on$"
    exits "the next start ends the night with 4" 4 night cd6
    is "and tells every cell's commit once" "$(causes "$ERR")" "$all_causes"
    unlike "no cell is left" "$ERR" "not followed"
}

# Somebody went on by hand with a search that a night had left: the night does what it leaves.
nightly_after_a_search_by_hand() {
    of_two_causes hand
    exits "a slower night exits 4" 4 night cd6
    sql "DELETE FROM bisect WHERE id > (SELECT min(id) FROM bisect); UPDATE bisect SET body = json_set(body, '$.followed', json('false'))"
    exits "the next night exits 4" 4 night cd6
    is "and finds the commits of the other cells" "$(causes "$ERR")" "$all_causes"
}

# A search of the same plan by hand, which is then made unfinished, with further changes to its record; what the night says of it.
nightly_beside() {
    first_night "$1"
    exits "another search is begun" 0 ks bisect "$TMPDIR/night.json" --artifacts "$TMPDIR/artifacts" --good c0 --bad c2
    sql "UPDATE bisect SET ended_at = NULL, outcome = NULL, body = json_set(body, '$.ended_at', ''$2)"
    exits "a slower night exits 4" 4 night c9
    like "$3" "$ERR" "$4"
    like "and searches for its own commit" "$ERR" "^bisect: found $(id_of c8 | cut -c 1-12)"
}

# The tag would win, and nobody would notice.
ambiguous_words() {
    fresh ambiguous
    in_repo branch c4 c9
    exits "a branch and a tag of one name exit 2" 2 ab --base c4 --head c8
    like "and are named" "$ERR" "heads/c4 or tags/c4"
    in_repo branch -D c4
    in_repo checkout -q --orphan empty && in_repo rm -rq --cached . && in_repo commit -q --allow-empty -m nothing && in_repo checkout -q -f main
    exits "a commit without the folder exits 2" 2 ab --base empty --head c8
    like "and is explained" "$ERR" "the commit has no folder src/"
}

# The plan was changed while a night's search was waiting for the next night.
nightly_changed_plan() {
    first_night changed '.confirm.bisect_minutes = 1'
    exits "a slower night exits 4" 4 night c9
    sql "UPDATE bisect SET ended_at = NULL, outcome = NULL, body = json_set(body, '$.ended_at', '', '$.request.plan_sha256', 'another')"
    exits "the next night exits 4" 4 night c11
    like "and says that it begins the search anew" "$ERR" "^bisect: the plan has changed: the search from $(id_of c6 | cut -c 1-12) to $(id_of c9 | cut -c 1-12) begins anew"
    like "which has its answer" "$ERR" "^bisect: found $(id_of c8 | cut -c 1-12)"
    is "the other search is gone" "$(sql "SELECT count(*), sum(ended_at IS NOT NULL) FROM bisect")" "1|1"
}

nightly_dirty() {
    first_night dirty
    in_repo checkout -q c6
    echo "1.08 changed" >"$REPO/src/code"
    exits "a slower night exits 4" 4 ks nightly "$TMPDIR/night.json" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/nightly/reports"
    like "the night says why nothing was searched" "$ERR" "^bisect: nothing was searched: tonight's sources differ"
}

# printer_plan NAME FOLDER WORDS REPETITIONS: the plan of such a program; the words stand before the context
printer_plan() {
    cat >"$TMPDIR/$1.json" <<EOT
{
  "schema": "kernsweep.plan/1", "clock": "simulated", "ticket": "$1", "node": "local", "workdir": "$TMPDIR/work",
  "source": {"dir": "$2"},
  "variants": [{"name": "a", "attn_impl": "fake", "build": [["cp", "{src}/run.sh", "{src}/prints", "{build}"]],
    "run": ["{build}/run.sh", $3, "{context}"]}],
  "contexts": [64], "repetitions": $4, "timeouts": {"default": 30}
}
EOT
}

# Programs that print what the file "prints" says, times noise of 0.1 %; "fail" fails. Commits of one plan each: "ends", whose bad end
# fails and whose good end has no prefill_s, and "middle", of which one prints less than the ends.
make_printers() {
    local printer=$TMPDIR/printer
    mkdir -p "$printer/ends" "$printer/middle"
    git -C "$printer" init -q -b main
    cat >"$printer/run.sh" <<'SH'
#!/bin/sh
# run.sh BUILD CONTEXT
echo "Prompt tokens: $2"
grep -q fail "$1/prints" && exit 1
random=$(od -An -N2 -tu2 /dev/urandom)
exec awk -v random="$random" '{ for (i = 1; i < NF; i += 2) out = out "\"" $i "\": " $(i + 1) * (1 + 0.002 * (random / 65535 - 0.5)) ", " }
    END { print "[PERF_TIMING] {" out "\"attn_impl\": \"fake\"}" }' "$1/prints"
SH
    chmod +x "$printer/run.sh"
    cp "$printer/run.sh" "$printer/ends/"
    mv "$printer/run.sh" "$printer/middle/"
    print_commit ends 0 "kernel_ms 50"
    print_commit ends 1 "kernel_ms 50.01"
    print_commit ends 2 fail
    print_commit middle 0 "prefill_s 0.002 kernel_ms 1"
    print_commit middle 1 "prefill_s 0.00200001 kernel_ms 1"
    print_commit middle 2 "prefill_s 0.003 kernel_ms 1"
    print_commit middle 3 "kernel_ms 1"
    print_commit middle 4 "prefill_s 0.00300001 kernel_ms 1"
    print_commit middle 5 "prefill_s 0.00300002 kernel_ms 1"
    print_commit middle 6 "prefill_s 0.00300003 kernel_ms 1"
}

# print_commit PLAN N PRINTS
print_commit() {
    local printer=$TMPDIR/printer
    echo "$3" >"$printer/$1/prints"
    git -C "$printer" add -A
    git -C "$printer" -c user.name=A -c user.email=a@example.org commit -q -m "$1 $2"
    git -C "$printer" tag "$1$2"
    printer_plan "$1" "$printer/$1" '"{build}"' 3
}

printed_on_one_side() {
    needs make_printers
    DB=$TMPDIR/printed/results.db
    mkdir -p "$TMPDIR/printed"
    exits "a bad end that fails exits 1" 1 ks bisect "$TMPDIR/ends.json" --artifacts "$TMPDIR/artifacts" --good ends0 --bad ends2
    like "and is the one that is named" "$OUT" "^stopped: the bad end $(git -C "$TMPDIR/printer" rev-parse --short=12 ends2) cannot be measured: it has no valid measurement of kernel_ms"
    exits "ab of a head that fails exits 1" 1 ks ab "$TMPDIR/ends.json" --artifacts "$TMPDIR/artifacts" --base ends0 --head ends2
    like "and says that the head does" "$OUT" "broken +its tests fail at the head"
}

printed_in_the_middle() {
    needs make_printers
    DB=$TMPDIR/middle/results.db
    mkdir -p "$TMPDIR/middle"
    exits "exits 0" 0 ks bisect "$TMPDIR/middle.json" --artifacts "$TMPDIR/artifacts" --good middle0 --bad middle6 --json
    is "the commit without the metric is skipped" "$(jq -r '.commits[] | select(.mark == "skipped") | .subject + ": " + .reason' <<<"$OUT")" \
        "middle 3: it has no valid measurement of prefill_s"
    is "and the answer is the slow one" "$(jq -r '.commits as $all | .answer.commits[] | . as $id | $all[] | select(.commit == $id).subject' <<<"$OUT")" "middle 2"
}

# Every second test of the head fails; the others take as long as the base's.
ab_of_a_head_that_fails_at_times() {
    local printer=$TMPDIR/flaky
    mkdir -p "$printer/src" "$TMPDIR/at-times"
    DB=$TMPDIR/at-times/results.db
    git -C "$printer" init -q -b main
    cat >"$printer/src/run.sh" <<'SH'
#!/bin/sh
# run.sh BUILD HERE CONTEXT
echo "Prompt tokens: $3"
if grep -q flaky "$1/prints"; then
    echo >>"$2/turns"
    [ $(($(wc -l <"$2/turns") % 2)) = 0 ] || exit 1
fi
random=$(od -An -N2 -tu2 /dev/urandom)
awk -v random="$random" 'BEGIN { printf "[PERF_TIMING] {\"prefill_s\": %.6f, \"attn_impl\": \"fake\"}\n", 1 + 0.002 * random / 65535 }'
SH
    chmod +x "$printer/src/run.sh"
    for word in steady flaky; do
        echo "$word" >"$printer/src/prints"
        git -C "$printer" add -A
        git -C "$printer" -c user.name=A -c user.email=a@example.org commit -q -m "$word"
        git -C "$printer" tag "$word"
    done
    printer_plan flaky "$printer/src" "\"{build}\", \"$TMPDIR\"" 4
    exits "exits 1" 1 ks ab "$TMPDIR/flaky.json" --artifacts "$TMPDIR/artifacts" --base steady --head flaky
    like "the head is broken, whatever the others took" "$OUT" "64 +a .* broken +4 of 8 tests fail at the head \\(FAIL\\): exit code 1"
    exits "the other way round exits 0" 0 ks ab "$TMPDIR/flaky.json" --artifacts "$TMPDIR/artifacts" --base flaky --head steady
    like "the verdict on what passed says so" "$OUT" "64 +a .* unchanged .*; of the base, [48] of (8|16) tests fail"
}

bisect_words() {
    fresh words
    exits "without ends exits 2" 2 bisect
    exits "without a plan exits 2" 2 ks bisect
    exits "a good end that is no ancestor exits 2" 2 bisect --good c8 --bad c2
    like "and is explained" "$ERR" "is not an ancestor"
    exits "the same commit twice exits 2" 2 bisect --good c2 --bad c2
    exits "an unknown variant exits 2" 2 bisect --good c0 --bad c2 --variant nothing
    exits "rounds of 0 exit 2" 2 bisect --good c0 --bad c2 --rounds 0
    exits "--show of nothing exits 2" 2 ks bisect --show
    exits "--list of nothing exits 0" 0 ks bisect --list --json
    is "--list of nothing is an empty array" "$OUT" "[]"
}

scenario "ab of a slower commit" ab_regression
scenario "ab of commits that do not differ" ab_equal
scenario "ab within a budget" ab_budget
scenario "the sides of ab" ab_sides
scenario "ab of a head that fails at times" ab_of_a_head_that_fails_at_times
scenario "bisect of twelve commits" bisect_found
scenario "bisect past a commit that does not build" bisect_skips
scenario "bisect of two cells that became slower" bisect_two_cells
scenario "bisect past tests that fail by chance" bisect_fails_once
scenario "bisect past a branch from before the good end" bisect_old_branch
scenario "bisect along first parents, beside the good end" bisect_first_parent
scenario "bisect of the commits that change a path" bisect_path
scenario "bisect of ends that do not differ" bisect_same_code
scenario "bisect on a noisy node" bisect_noise
scenario "bisect that is killed and blocked" bisect_killed
scenario "bisect that is killed while it starts a run" bisect_killed_at_a_start
scenario "bisect of a plan that changed" bisect_of_another_plan
scenario "bisect that is detached" bisect_detached
scenario "a nightly run that searches" nightly_search
scenario "a nightly run of two slow commits" nightly_two_causes
scenario "a nightly run that is interrupted between two cells" nightly_interrupted_between_cells
scenario "a nightly run after a search by hand" nightly_after_a_search_by_hand
scenario "a nightly run past a search that is stuck" nightly_beside stuck ", '$.request.variants', 'gone'" \
    "the night says why the other search does not go on" "^bisect: .*gone"
scenario "a nightly run after a search that was not finished" nightly_beside beside "" "the night ends the other search" \
    "^bisect: not reproducible"
scenario "a nightly run whose plan changed" nightly_changed_plan
scenario "revisions that are not what they seem" ambiguous_words
scenario "a nightly run of changed sources" nightly_dirty
scenario "a metric that one end lacks" printed_on_one_side
scenario "a metric that a commit lacks" printed_in_the_middle
scenario "the words of bisect" bisect_words
done_testing
