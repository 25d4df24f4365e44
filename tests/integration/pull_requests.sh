#!/usr/bin/env bash
# The jobs of docs/pull-requests.md, with stand-ins for kernsweep, gh and curl: one comment, and the exit code of `ab`.
# touches: docs/pull-requests.md
# unsanitized: exercises no C code
# shellcheck disable=SC2016 # a stand-in's own words
. tests/lib.sh

# job HEAD KEY: the script of the page's job, as the runner would pass it to bash
job() {
    awk -v head="## $1" -v key="$2" '$0 == head { on = 1 } on && /^```$/ { exit } on && code { print } on && $0 ~ key { code = 1 }' \
        docs/pull-requests.md | sed 's/^ *//'
}

stand_ins() {
    mkdir -p "$TMPDIR/bin"
    printf '#!/bin/sh\necho "$@" >>"$TMPDIR/asked"\necho "**kernsweep** result"\nexit "$CODE"\n' >"$TMPDIR/bin/kernsweep"
    printf '#!/bin/sh\necho "$@" >>"$TMPDIR/gh"\n' >"$TMPDIR/bin/gh"
    printf '#!/bin/sh\necho "$@" >>"$TMPDIR/curl"\ncase "$*" in *--request*) ;; *) cat "$TMPDIR/notes" ;; esac\n' >"$TMPDIR/bin/curl"
    printf '#!/bin/sh\necho abc123\n' >"$TMPDIR/bin/git"
    chmod +x "$TMPDIR"/bin/*
    job "GitHub Actions" ' run: [|]$' >"$TMPDIR/github"
    job GitLab '^ *- [|]$' >"$TMPDIR/gitlab"
}

# with CODE JOB: the job, where `ab` ends so
with() {
    rm -f "$TMPDIR"/{asked,gh,curl}
    (cd "$TMPDIR" && CODE=$1 PATH=$TMPDIR/bin:$PATH BASE=base PULL=7 CI_API_V4_URL=https://git.example/api/v4 CI_PROJECT_ID=3 \
        CI_MERGE_REQUEST_IID=9 CI_MERGE_REQUEST_DIFF_BASE_SHA=base KERNSWEEP_TOKEN=t bash -euo pipefail "$TMPDIR/$2")
}

github() {
    needs stand_ins
    local code
    for code in 0 1 4 6; do
        exits "it exits $code like ab" "$code" with "$code" github
        is "and comments once" "$(cat "$TMPDIR/gh")" "pr comment 7 --edit-last --create-if-none --body-file comment.md"
    done
    is "it asks for the change since the branch began" "$(cat "$TMPDIR/asked")" "ab bench/plan.json --base abc123 --head HEAD --markdown"
    exits "blocked, it exits 3" 3 with 3 github
    passes "and comments nothing" test ! -e "$TMPDIR/gh"
}

gitlab() {
    needs stand_ins
    echo '[{"id": 4, "body": "thanks"}]' >"$TMPDIR/notes"
    exits "it exits 4 like ab" 4 with 4 gitlab
    like "the first result is a new note" "$(tail -n 1 "$TMPDIR/curl")" '--request POST --data-urlencode body@comment.md https://git.example/api/v4/projects/3/merge_requests/9/notes$'
    echo '[{"id": 4, "body": "thanks"}, {"id": 5, "body": "**kernsweep** `x`"}]' >"$TMPDIR/notes"
    exits "it exits 6 like ab" 6 with 6 gitlab
    like "the next one replaces it" "$(tail -n 1 "$TMPDIR/curl")" '--request PUT --data-urlencode body@comment.md https://git.example/api/v4/projects/3/merge_requests/9/notes/5$'
    exits "blocked, it exits 3" 3 with 3 gitlab
    passes "and notes nothing" test ! -e "$TMPDIR/curl"
}

scenario "the job of GitHub Actions" github
scenario "the job of GitLab" gitlab
done_testing
