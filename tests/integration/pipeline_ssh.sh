#!/usr/bin/env bash
# The whole pipeline through a real sshd, with libssh2 and with the OpenSSH client.
. tests/lib.sh
. tests/pipeline.sh
. tests/line.sh

openssh_client() {
    exits "exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --tag openssh --transport openssh
    passes "the manifest has every file with its hash" manifest_holds "$(bundle_of openssh)"
}

bench_over_ssh() {
    exits "exits 0" 0 "$KERNSWEEP" bench --ssh-config "$NODE/ssh_config" --node loopback --workdir "$TMPDIR/bench-work" \
        --db "$TMPDIR/bench.db" --repeat 5 'sleep 0.01' 'sleep 0.2'
    like "the second command is slower" "$OUT" 'c2 .*slower .* sleep 0.2'
    passes "nothing is stored here" test ! -e "$TMPDIR/bench.db"
    is "and no run is left on the node" "$(find "$TMPDIR/bench-work/runs" -mindepth 1 | wc -l)" 0
    # The answer to the submission is still on its way when the first command runs.
    line --rtt 600
    "$KERNSWEEP" bench --ssh-config "$CONFIG" --node loopback --workdir "$TMPDIR/bench-work" --db "$TMPDIR/bench.db" \
        "touch $TMPDIR/bench-started" 'sleep 60' >/dev/null 2>"$TMPDIR/bench.err" &
    until_true 60 test -e "$TMPDIR/bench-started"
    kill -INT $!
    wait $!
    is "Ctrl-C ends it with exit code 130" $? 130
    line_end
    like "and the run on the node" "$(cat "$TMPDIR/bench.err")" 'stopped run .* on loopback'
    is "of which nothing is left there either" "$(find "$TMPDIR/bench-work/runs" -mindepth 1 | wc -l)" 0
}

# Ctrl-C between the submission and its answer: the run goes on, and its user is told how to follow or cancel it.
interrupted_as_it_starts() {
    line --rtt 600
    plan_with 'del(.reference) | .variants = [{name: "v", run: ["sh", "-c", "touch '"$TMPDIR/submitted"'; sleep 60"]}]' "$TMPDIR/submitted.json"
    "$KERNSWEEP" run "$TMPDIR/submitted.json" --contexts 16 --ssh-config "$CONFIG" --db "$DB" \
        --artifacts "$TMPDIR/artifacts" >/dev/null 2>"$TMPDIR/submitted.err" &
    until_true 60 test -e "$TMPDIR/submitted"
    kill -INT $!
    wait $!
    is "it ends with exit code 130" $? 130
    like "it says what may go on" "$(cat "$TMPDIR/submitted.err")" 'run [^ ]+ (may have started|has not ended) on loopback: .*kernsweep cancel'
    try ks cancel "$(sed -n 's/^run .* .kernsweep cancel \([^ ]*\). cancels it$/\1/p' "$TMPDIR/submitted.err")"
    exited "the command that it names cancels it" 0
    line_end
}

# A run that bench could not stop can be stopped by the command that it prints.
bench_out_of_reach() {
    local hint
    "$KERNSWEEP" bench --ssh-config "$NODE/ssh_config" --node loopback --workdir "$TMPDIR/bench work" --db "$TMPDIR/bench.db" \
        "touch $TMPDIR/out-of-reach" 'sleep 60' >/dev/null 2>"$TMPDIR/bench.err" &
    until_true 60 test -e "$TMPDIR/out-of-reach"
    mv "$NODE/ssh_config" "$TMPDIR/away"
    kill -INT $!
    wait $!
    mv "$TMPDIR/away" "$NODE/ssh_config"
    # shellcheck disable=SC2016 # backquotes are meant
    hint=$(sed -n 's/^run .* may still be running on loopback: `kernsweep \(cancel .*\)` (.*/\1/p' "$TMPDIR/bench.err")
    like "the hint names the folder" "$hint" "^cancel [^ ]+ --node loopback --workdir '.*bench work'\$"
    try eval "ks $hint"
    exited "it cancels the run" 0
}

# As csh, which takes no line break within quotes, with a login script that goes to another folder.
odd_login() {
    cat >"$TMPDIR/login" <<'END'
#!/bin/sh
case $SSH_ORIGINAL_COMMAND in *"
"*)
    echo "Unmatched '." >&2
    exit 1
    ;;
esac
cd "$HOME/elsewhere" || exit
exec sh -c "$SSH_ORIGINAL_COMMAND"
END
    chmod +x "$TMPDIR/login"
    mkdir -p "$TMPDIR/home-of-node/elsewhere"
    node_stop
    NODE_SSHD="ForceCommand $TMPDIR/login" node_start
    plan_with '.workdir = "odd"' "$TMPDIR/odd.json"
    local backend
    for backend in libssh2 openssh; do
        exits "through $backend, run exits 0" 0 ks_run "$TMPDIR/odd.json" --variants good --contexts 16 --tag "odd-$backend" --transport "$backend"
        passes "a file of it is read on the node" ks logs "$(sql "SELECT run_id FROM run WHERE tag = 'odd-$backend'")" good 16 \
            --node loopback --transport "$backend"
    done
    passes "the executor is in the workdir" test -d "$TMPDIR/home-of-node/odd/bin"
    is "and nothing is where the login script went" "$(ls "$TMPDIR/home-of-node/elsewhere")" ''
    node_stop
    NODE_SSHD="" node_start
}

# The key exchange that OpenSSH itself chooses.
NODE_SSHD="" node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PLAN_NODE=loopback
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
pipeline_setup
pipeline_scenarios
scenario "a sweep through the OpenSSH client" openssh_client
scenario "bench over ssh" bench_over_ssh
scenario "a run that is interrupted as it starts" interrupted_as_it_starts
scenario "a bench that cannot be stopped" bench_out_of_reach
scenario "a login shell that is odd" odd_login
done_testing
