#!/usr/bin/env bash
# ab and bisect, on a repository that the test makes and a node whose noise the test sets.
# timeout: 900
. tests/lib.sh

REPO=$TMPDIR/repo

ks() {
    "$KERNSWEEP" "$@" --db "$DB"
}

ab() {
    ks ab "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" "$@"
}

bisect() {
    ks bisect "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" "$@"
}

sql() {
    sqlite3 -batch -noheader "$DB" "$1"
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
cp "$1/code" "$1/run.sh" "$1/work.awk" "$2/"
SH
    cat >"$REPO/src/run.sh" <<'SH'
#!/bin/sh
# run.sh BUILD HERE CONTEXT
echo "Prompt tokens: $3"
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
exec awk -v dir="$1" -v here="$2" -v seed="$seed" -f "$1/work.awk"
SH
    cat >"$REPO/src/work.awk" <<'AWK'
# Claims to have taken as long as the code says, times noise of 1.5 % or what the file "noise" says.
BEGIN {
    getline line <(dir "/code")
    split(line, word, " ")
    noise = 0.015
    if ((getline line <(here "/noise")) > 0) noise = line
    srand(seed)
    sum = 0
    for (i = 0; i < 12; i++) sum += rand()
    printf "[PERF_TIMING] {\"prefill_s\": %.6f, \"attn_impl\": \"fake\"}\n", word[1] * (1 + noise * (sum - 6))
}
AWK
    chmod +x "$REPO/src/build.sh" "$REPO/src/run.sh"
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
    "run": ["{build}/run.sh", "{build}", "$TMPDIR", "{context}"]}],
  "contexts": [64], "repetitions": 5, "timeouts": {"default": 30}
}
EOT
}

# fresh NAME: a store of the scenario's own.
fresh() {
    needs twelve_commits
    DB=$TMPDIR/$1/results.db
    mkdir -p "$TMPDIR/$1"
    rm -f "$TMPDIR/noise"
}

ab_regression() {
    fresh ab
    exits "exits 4" 4 ab --base c7 --head c8
    like "names the commits" "$OUT" "^head +$(git -C "$REPO" rev-parse --short=12 c8) +attention"
    like "says by how much" "$OUT" "64 +a .*\\+[6-9]\\..* % +regressed"
    is "every run has the purpose confirm" "$(sql "SELECT DISTINCT purpose FROM run")" confirm
    is "the exported trees are gone" "$(find "$TMPDIR/ab/trees" -mindepth 1 | wc -l)" 0
    exits "--markdown exits 4" 4 ab --base c7 --head c8 --markdown
    like "the comment begins with the counts" "$(head -n 1 <<<"$OUT")" '^\*\*kernsweep\*\* `bisect`: 1 regressed$'
    like "the comment escapes the subject" "$OUT" '`attention: a | "quoted" <b>subject</b>`'
    exits "--json exits 4" 4 ab --base c7 --head c8 --json
    is "--json has the verdict and the commits" "$(jq -r '[.cells[0].verdict, .head.commit, .exit_code] | @csv' <<<"$OUT")" \
        "\"regressed\",\"$(git -C "$REPO" rev-parse c8)\",4"
}

ab_equal() {
    fresh equal
    echo 0.002 >"$TMPDIR/noise"
    exits "commits of the same code exit 0" 0 ab --base c9 --head c10
    like "nothing is measured" "$OUT" "same machine code: nothing to measure"
    is "both are built, and nothing is timed" "$(sql "SELECT count(*), (SELECT count(*) FROM test) FROM run")" "2|0"
    exits "--force measures" 0 ab --base c9 --head c10 --force --rounds 1
    is "--force takes a round" "$(sql "SELECT count(DISTINCT run_id) FROM test")" 4
    exits "a head that does not build exits 1" 1 ab --base c4 --head c5
    like "a head that does not build is broken" "$OUT" "broken"
}

ab_sides() {
    local run
    fresh sides
    echo 0.002 >"$TMPDIR/noise"
    exits "a folder against the plan's sources exits 0" 0 ab --base "dir:$REPO/src" --rounds 1
    run=$(sql "SELECT run_id FROM run ORDER BY id LIMIT 1")
    exits "a stored run against a commit exits 4" 4 ab --base c1 --head "run:$run"
    exits "a toolchain's setting exits 0" 0 ab --base-env CXX=clang++-18 --rounds 1 --force
    is "the setting is in the run's environment" "$(sql "SELECT count(*) FROM run r JOIN fact f USING (environment_id) WHERE f.key = 'env.CXX'")" 3
    exits "no side exits 2" 2 ab
    exits "an unknown revision exits 2" 2 ab --base nowhere
    like "an unknown revision is named" "$ERR" 'no commit "nowhere"'
    exits "an option as revision exits 2" 2 ab --base=--all
    exits "a setting without a name exits 2" 2 ab --base-env =x
}

scenario "ab of a slower commit" ab_regression
scenario "ab of commits that do not differ" ab_equal
scenario "the sides of ab" ab_sides
done_testing
