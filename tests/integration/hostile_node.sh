#!/usr/bin/env bash
# What a hostile node, workload or plan can do to whoever runs the sweep: nothing, in one line, with nothing raw on the
# terminal.
. tests/lib.sh
. tests/pipeline.sh

pipeline_setup
REAL=$KERNSWEEP_EXECUTOR

# inert NAME TEXT: no control characters but newlines, not even as UTF-8.
inert() {
    is "$1 has no raw control character" "$(tr -d '\n\t' <<<"$2" | LC_ALL=C tr -d '\040-\176\200-\377' | wc -c)" 0
    unlike "$1 has no raw C1 control character" "$2" $'\xc2[\x80-\x9f]'
}

# Everything that a workload, a compiler and a gate can say, in escape sequences.
cat >"$TMPDIR/evil" <<'END'
#!/bin/sh
evil() {
    printf '\033]0;pwned\007\033[2J\302\2331m\rgone'
}
case $1 in
skips) echo "SKIP: $(evil)"; exit 77 ;;
builds | gates) evil; echo; exit 1 ;;
impostor) printf '[PERF_TIMING] {"prefill_s": 1, "attn_impl": "\\u001b[2J\\u0007"}\n' ;;
esac
END
chmod 755 "$TMPDIR/evil"

evil_sweep() {
    plan_with ".variants = [
        {name: \"skips\", run: [\"$TMPDIR/evil\", \"skips\"]},
        {name: \"builds\", build: [[\"$TMPDIR/evil\", \"builds\"]], run: [\"true\"]},
        {name: \"gates\", gates: [{kind: \"command\", run: [\"$TMPDIR/evil\", \"gates\"]}], run: [\"true\"]},
        {name: \"impostor\", attn_impl: \"k\", run: [\"$TMPDIR/evil\", \"impostor\"]}] | .contexts = [16] | del(.reference)" "$TMPDIR/evil.json"
    try_once evil ks_run "$TMPDIR/evil.json" --tag evil --fail-on failure
}

escapes() {
    local command
    evil_sweep
    exited "run exits 1" 1
    inert "the output of run" "$OUT$ERR"
    like "run shows the sequences in escaped form" "$OUT$ERR" 'x1b.*pwned'
    for command in "status" "show $(bundle_of evil)" "report $(bundle_of evil)" "runs"; do
        # shellcheck disable=SC2086 # words
        try ks $command
        inert "the output of ${command%% *}" "$OUT$ERR"
    done
}

# node_that COMMAND: the executor on the node, but for one of its commands, which is the script on stdin.
node_that() {
    {
        echo '#!/bin/sh'
        echo "[ \"\$1\" = $1 ] || exec '$REAL' \"\$@\""
        cat
    } >"$TMPDIR/executor"
    chmod 755 "$TMPDIR/executor"
    export KERNSWEEP_EXECUTOR=$TMPDIR/executor
}

# refused CODE PATTERN: a run with that node ends so.
refused() {
    exits "run exits $1" "$1" ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag refused
    like "run says why" "$ERR" "$2"
    inert "the output of run" "$OUT$ERR"
    is "no bundle is left but that which says so" \
        "$(find "$TMPDIR/artifacts_remote" -path '*refused*' -type f ! -path '*_blocked*/*' | wc -l)" 0
    is "no file is written elsewhere" "$(find "$TMPDIR" -name 'pwned*' | wc -l)" 0
}

# journal_after SCRIPT: what the script prints comes before the journal; the run is collected all the same.
journal_after() {
    node_that follow <<<"$1
exec '$REAL' \"\$@\""
    exits "run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag junk
    like "it says that a line is skipped" "$ERR" 'a line that is not an event'
    inert "the output of run" "$OUT$ERR"
    is "the run is stored" "$(ks runs --all --json | jq 'map(select(.tag == "junk")) | length > 0')" true
}

# packed_by SCRIPT CODE PATTERN: the node's pack is the shell script.
packed_by() {
    mkdir -p "$TMPDIR/artifacts_remote"
    echo x >"$TMPDIR/pwn"
    node_that pack <<<"$1"
    refused "$2" "$3"
}

# bundle_with CODE PATTERN COMMAND...: the node sends a folder with a manifest and what the command makes in it.
bundle_with() {
    rm -rf "$TMPDIR/b"
    mkdir -p "$TMPDIR/b/sub"
    echo '{}' >"$TMPDIR/b/manifest.json"
    (cd "$TMPDIR/b" && "${@:3}")
    packed_by "tar -C '$TMPDIR/b' -cf - ." "$1" "$2"
}

# shellcheck disable=SC2317,SC2329 # called by bundle_with
wild_name() {
    printf '\033[2J' >"$(printf 'x\033[2Jx')"
}

# answers_by COMMAND SCRIPT CODE PATTERN: the node's command is the shell script.
answers_by() {
    mkdir -p "$TMPDIR/artifacts_remote"
    node_that "$1" <<<"$2"
    refused "$3" "$4"
}

# Names that a shell would love.
names() {
    local evil="w \$(touch pwned1) ; touch pwned2 '\" \`touch pwned3\`"
    export KERNSWEEP_EXECUTOR=$REAL
    plan_with . "$TMPDIR/plan.json"
    jq --arg w "$TMPDIR/$evil" --arg e "$evil" '.workdir = $w | .env.EVIL = $e | .variants = [.variants[] | select(.name == "good")]
        | .variants[0].gates = [{kind: "command", run: ["test", $e, "=", $e]}]' "$TMPDIR/plan.json" >"$TMPDIR/names.json"
    exits "a run with them exits 0" 0 ks_run "$TMPDIR/names.json" --contexts 16 --tag "names-$1"
    is "none of them is run as a command" "$(find "$TMPDIR" "$HOME" . -maxdepth 2 -name 'pwned*' | wc -l)" 0
    is "the workdir has its name as given" "$(find "$TMPDIR/$evil" -maxdepth 1 -name runs | wc -l)" 1
}

# names_over BACKEND: the same over ssh
names_over() {
    PLAN_NODE=loopback
    KS_OPTIONS=(--ssh-config "$NODE/ssh_config" --transport "$1")
    names "$1"
    PLAN_NODE=local
    KS_OPTIONS=()
}

privacy() {
    evil_sweep
    passes "the bundle is there" test -s "$(bundle_of evil)/manifest.json"
    is "the bundle is open to its owner only" \
        "$(find "$(bundle_of evil)" \( -type f ! -perm 600 -o -type d ! -perm 700 \) | wc -l)" 0
    is "the store is open to its owner only" "$(find "$TMPDIR" -maxdepth 1 -name 'results.db*' ! -perm 600 | wc -l)" 0
    is "the run's folder on the node is open to its owner only" \
        "$(find "$TMPDIR/work/runs" \( -type f ! -perm 600 -o -type d ! -perm 700 \) | wc -l)" 0
}

# A shell that prints before it does what it was told, as one with a chatty ~/.bashrc.
chatty_shell() {
    mkdir -p "$TMPDIR/bin"
    printf '#!/bin/bash\nprintf "Welcome to \\033[1mnode7\\n"\nexec /bin/sh "$@"\n' >"$TMPDIR/bin/sh"
    chmod 755 "$TMPDIR/bin/sh"
    PATH=$TMPDIR/bin:$PATH refused 3 'its login scripts print before every command: "Welcome to .x1b\[1mnode7.*bashrc'
}

damaged_executor() {
    export KERNSWEEP_EXECUTOR=$REAL
    exits "a run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag before
    truncate -s 0 "$TMPDIR"/work/bin/*/kernsweep-executor
    exits "with the node's executor emptied by a power cut, too" 0 \
        ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag after
    is "the node has the whole executor again" "$(sha256sum <"$(echo "$TMPDIR"/work/bin/*/kernsweep-executor)")" "$(sha256sum <"$REAL")"
}

# replaced WHAT: what else a test can put in the place of a path
replaced() {
    local path
    while IFS= read -r path; do
        rm -rf "$path"
        case $1 in
        pipe) mkfifo "$path" ;;
        folder) mkdir -p "$path/sub" ;;
        link) ln -s "${path##*/}" "$path" ;;
        esac
    done
}

# replaced_on_node WHAT FOLDER FIND_ARGUMENT...: the next run measures all the same.
replaced_on_node() {
    export KERNSWEEP_EXECUTOR=$REAL
    chmod -R u+w "$TMPDIR/work" 2>/dev/null
    rm -rf "$TMPDIR/work"
    exits "a run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag before
    find "$TMPDIR/work/$2" "${@:3}" >"$TMPDIR/list"
    passes "there is something to replace" test -s "$TMPDIR/list"
    replaced "$1" <"$TMPDIR/list"
    exits "the next exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag after
    is "its test is OK" "$(status_of "$(bundle_of after)" good 16 1)" OK
}

# The last test removes the program that is to send the results.
executor_removed() {
    export KERNSWEEP_EXECUTOR=$REAL
    plan_with ".variants = [{name: \"removes\", run: [\"sh\", \"-c\", \"rm -rf $TMPDIR/work/bin\"]}] | .contexts = [16] | del(.reference)" \
        "$TMPDIR/removes.json"
    exits "a run exits 0" 0 ks_run "$TMPDIR/removes.json" --tag removes
    is "its test is OK" "$(status_of "$(bundle_of removes)" removes 16 1)" OK
}

scenario "a shell whose login scripts print" chatty_shell
scenario "an executor that was damaged on the node" damaged_executor
scenario "a test that removes the executor's program" executor_removed
for what in pipe folder link; do
    scenario "a $what in the executor's place" replaced_on_node "$what" bin -name kernsweep-executor
    scenario "a $what in the place of each file of the workdir" replaced_on_node "$what" . -maxdepth 1 -type f
    scenario "a $what in the place of each seal" replaced_on_node "$what" seals -type f
    scenario "a $what in the place of each file beside a build" replaced_on_node "$what" build -name '.*' -type f
done
scenario "a workload, a compiler and a gate that print escape sequences" escapes
scenario "the permissions of a run's files" privacy

plain='not a plain relative path' kind='neither a file nor a folder'
scenario "a bundle with a path that climbs" packed_by "tar -C '$TMPDIR' -cf - --transform 's,pwn,../pwned,' -P pwn" 3 "\.\./pwned.*$plain"
scenario "a bundle with an absolute path" packed_by "tar -C '$TMPDIR' -cf - --transform 's,pwn,/$TMPDIR/pwned,' -P pwn" 3 "$plain"
scenario "a bundle with a symbolic link" bundle_with 3 "link.*$kind" ln -s / link
if mknod "$TMPDIR/null" c 1 3 2>/dev/null; then
    scenario "a bundle with a device" bundle_with 3 "null.*$kind" mknod null c 1 3
else
    skip_scenario "a bundle with a device" "no devices can be made here"
fi
scenario "a bundle with a pipe" bundle_with 3 "fifo.*$kind" mkfifo fifo
scenario "a bundle with a file above the limit" bundle_with 3 'huge.*exceeds the limit' truncate -s 3G huge
scenario "a bundle with a file name of escape sequences" bundle_with 3 "$plain" wild_name
scenario "a bundle without a readable manifest" bundle_with 2 'manifest.json' true
scenario "a bundle of random bytes" packed_by "head -c 5000 /dev/urandom" 3 'cut short|not a readable tar|not a tar stream'

# shellcheck disable=SC1003 # the node's shell reads them
scenario "a journal that is not JSON" journal_after \
    'printf "{\"seq\":1,\"event\":\"NODE\",\"message\":\"\\\\u001b[2J\\\\u0007\"}\n"; printf "no json \033[2J\n"'
scenario "a journal with an endless line" journal_after \
    "yes '{\"seq\":1,\"event\":\"NODE\"' | tr -d '\n' | head -c 10000000; echo"
scenario "a probe that fails" answers_by probe "printf '\033[2J'; exit 3" 3 'probe failed'
scenario "a probe with an endless answer" answers_by probe 'head -c 40000000 /dev/zero' 3 'longer than'
scenario "a submit that fails" answers_by submit "printf 'no: \033[2J\n' >&2; exit 3" 3 'submit failed.*x1b'

scenario "names with quotes, \$(...), ; and blanks on this machine" names local
if node_start; then
    for backend in libssh2 openssh; do
        scenario "names with quotes, \$(...), ; and blanks over $backend" names_over "$backend"
    done
else
    skip_scenario "names with quotes, \$(...), ; and blanks over ssh" "no private sshd"
fi
done_testing
