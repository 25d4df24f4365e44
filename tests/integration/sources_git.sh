#!/usr/bin/env bash
# What arrives on the node is what git has, or what the folder has, in the order of its times.
. tests/lib.sh
. tests/store.sh

git_in() {
    git -C "$TMPDIR/$1" -c user.name=A -c user.email=a@example.org -c init.defaultBranch=main "${@:2}" >/dev/null 2>&1
}

# project DIR SECONDS: a repository whose Makefile makes prog, which is ignored, of prog.in.
project() {
    local dir=$TMPDIR/$1
    mkdir -p "$dir/src"
    printf '#!/bin/sh\necho "[PERF_TIMING] {\\"prefill_s\\": 0.00%s}"\nsleep 0.02\n' "$2" >"$dir/src/prog.in"
    printf 'prog: prog.in\n\tcp prog.in prog\n\tchmod 755 prog\n' >"$dir/src/Makefile"
    jq -n --arg work "$TMPDIR/work" '{schema: "kernsweep.plan/1", ticket: "own", node: "local", workdir: $work, clock: "simulated",
        source: {dir: "src"}, variants: [{name: "a", build: [["make", "-C", "{src}"]], run: ["{src}/prog"]}],
        contexts: [1], repetitions: 2, timeouts: {default: 30}}' >"$dir/plan.json"
}

repository() {
    project "$@"
    echo prog >"$TMPDIR/$1/.gitignore"
    git_in "$1" init
    git_in "$1" add -A
    git_in "$1" commit -m one
}

# sweep DIR [ARGUMENT...]
sweep() {
    ks run "$TMPDIR/$1/plan.json" --artifacts "$TMPDIR/$1/artifacts_remote" "${@:2}"
}

value() {
    sql "SELECT DISTINCT t.prefill_s FROM test t JOIN run r ON r.id = t.run_id WHERE r.tag = '$1'"
}

# The program that lies there is of older sources.
edit_after_building() {
    make -s -C "$TMPDIR/$1/src"
    touch -d '1 hour ago' "$TMPDIR/$1/src/prog"
    sed -i 's/0\.00[0-9]/0.009/' "$TMPDIR/$1/src/prog.in"
}

stale_in_git() {
    repository stale 3
    edit_after_building stale
    git_in stale commit -a -m two
    exits "the run succeeds" 0 sweep stale --tag stale
    is "the sources are measured" "$(value stale)" 0.009
}

stale_included() {
    repository included 3
    edit_after_building included
    git_in included commit -a -m two
    jq '.source.include = ["Makefile", "prog.in", "prog"]' "$TMPDIR/included/plan.json" >"$TMPDIR/included/plan2.json"
    mv "$TMPDIR/included/plan2.json" "$TMPDIR/included/plan.json"
    exits "the run succeeds" 0 sweep included --tag included
    is "its age counts" "$(value included)" 0.009
    touch "$TMPDIR/included/src/prog"
    exits "the run of a newer one succeeds" 0 sweep included --tag newer
    is "a newer program is up to date" "$(value newer)" 0.003
}

built_elsewhere() {
    repository elsewhere 3
    rm "$TMPDIR/elsewhere/.gitignore"
    cp /bin/true "$TMPDIR/elsewhere/src/prog"
    sweep elsewhere --tag elsewhere >"$TMPDIR/elsewhere.out" 2>&1
    like "a note says so" "$(cat "$TMPDIR/elsewhere.out")" 'a: the build left prog as it was sent: it was built elsewhere'
}

stale_folder() {
    project folder 3
    edit_after_building folder
    exits "the run succeeds" 0 sweep folder --tag folder
    is "the sources are measured" "$(value folder)" 0.009
}

own_folders() {
    repository own 3
    jq '.source.dir = "."' "$TMPDIR/own/plan.json" | jq '.variants[0].build = [["make", "-C", "{src}/src"]] | .variants[0].run = ["{src}/src/prog"]' >"$TMPDIR/plan"
    cp "$TMPDIR/plan" "$TMPDIR/own/plan.json"
    git_in own commit -a -m plan
    sweep own --tag own1 >/dev/null 2>&1
    mkdir "$TMPDIR/own/nightly_reports"
    touch "$TMPDIR/own/nightly_reports/index.html"
    exits "the second night runs" 0 sweep own --tag own2
    is "its sources are the same" "$(sql "SELECT count(DISTINCT source_sha256) FROM run WHERE tag LIKE 'own_'")" 1
    unlike "they have no local changes" "$OUT$ERR" 'local changes'
}

# Sources may lie in a folder of the name that others give to what they built.
tracked_build() {
    repository built 3
    mkdir "$TMPDIR/built/src/build"
    git_in built mv src/Makefile src/prog.in src/build
    jq '.variants[0].build = [["make", "-C", "{src}/build"]] | .variants[0].run = ["{src}/build/prog"]' "$TMPDIR/built/plan.json" >"$TMPDIR/plan"
    cp "$TMPDIR/plan" "$TMPDIR/built/plan.json"
    git_in built commit -a -m moved
    touch "$TMPDIR/built/src/build/prog.o"
    exits "the run succeeds" 0 sweep built --tag built
    is "its sources are measured" "$(value built)" 0.003
    rm "$TMPDIR/built/src/build/prog.o"
    exits "ab of the clean tree and its commit ends with 0" 0 ks ab "$TMPDIR/built/plan.json" --base HEAD --artifacts "$TMPDIR/elsewhere"
    is "all have the same sources" "$(sql "SELECT count(DISTINCT source_sha256) FROM run WHERE tag = 'built' OR purpose IN ('confirm', 'ab')")" 1
}

revision_is_tree() {
    repository same 3
    echo '*.in export-ignore' >"$TMPDIR/same/src/.gitattributes"
    git_in same add -A
    git_in same commit -m attributes
    local before
    before=$(sql "SELECT max(id) FROM run")
    exits "ab of the clean tree and its commit ends with 0" 0 ks ab "$TMPDIR/same/plan.json" --base HEAD --artifacts "$TMPDIR/same/artifacts_remote"
    is "both have the same sources" "$(sql "SELECT count(DISTINCT source_sha256) FROM run WHERE id > ${before:-0}")" 1
}

failing_ends() {
    repository failing 3
    sed -i '2s/.*/echo lost the GPU >\&2; exit 3/' "$TMPDIR/failing/src/prog.in"
    git_in failing commit -a -m two
    sed -i 's/3$/4/' "$TMPDIR/failing/src/prog.in"
    git_in failing commit -a -m three
    ks bisect "$TMPDIR/failing/plan.json" --good HEAD~1 --bad HEAD --artifacts "$TMPDIR/failing/artifacts_remote" >"$TMPDIR/bisect.out" 2>&1
    like "what failed at the good end is told" "$(cat "$TMPDIR/bisect.out")" 'the good end: FAIL: exit code 3'
}

relative_db() {
    repository relative 3
    cd "$TMPDIR/relative" || return 1
    exits "ab works" 0 "$KERNSWEEP" ab plan.json --base HEAD --db here/r.db
    passes "no tree is left" test ! -e here/trees
    cd "$OLDPWD" || return 1
}

nothing() {
    repository empty 3
    mkdir "$TMPDIR/empty/none"
    jq '.source.dir = "none"' "$TMPDIR/empty/plan.json" >"$TMPDIR/empty/none.json"
    exits "it is an error of the input" 2 ks run "$TMPDIR/empty/none.json"
    like "which says so" "$ERR" 'none: nothing to send'
}

scenario "a stale program that git ignores" stale_in_git
scenario "a stale program that is included" stale_included
scenario "a stale program in a folder without git" stale_folder
scenario "a program that was built elsewhere and is up to date" built_elsewhere
scenario "kernsweep's own folders in the sources" own_folders
scenario "a folder named build that git tracks" tracked_build
scenario "a clean tree and its commit" revision_is_tree
scenario "a search whose ends fail" failing_ends
scenario "a relative --db" relative_db
scenario "an empty source.dir" nothing
done_testing
