# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/users.sh: two users of one machine, ann and bob, and root, each with a workdir, using the executor directly. Source it
# after tests/executor.sh. Files that all of them may read go to $PLACE, which a script removes at its end.

if [ "$(id -u)" != 0 ] || ! why=$(setpriv --reuid 64001 --regid 64001 --clear-groups true 2>&1); then
    skip_all "only root can be two users here: ${why:-not root}"
fi
PLACE=$(mktemp -d /tmp/kernsweep-users.XXXXXX) # other users cannot enter the tests' own folder
declare -A UIDS=([ann]=64001 [bob]=64002)
install -d -m 755 "$PLACE" "$PLACE/tools"
install -d -o 64001 -g 64001 "$PLACE/ann"
install -d -o 64002 -g 64002 "$PLACE/bob"
install -m 755 "$KERNSWEEP_EXECUTOR" "$PLACE/executor"

# as USER COMMAND...: runs it with the stand-ins of $PLACE/tools in the PATH
as() {
    local user=$1 uid=${UIDS[$1]}
    shift
    HOME=$PLACE/$user TMPDIR=$PLACE/$user PATH=$PLACE/tools:/usr/bin:/bin setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"
}

# use USER: later calls are made by this user
use() {
    WHO=$1
    WORK=$PLACE/$1/work
}

x() {
    if [ "$WHO" = root ]; then
        "$PLACE/executor" "$1" --workdir "$WORK" "${@:2}"
    else
        as "$WHO" "$PLACE/executor" "$1" --workdir "$WORK" "${@:2}"
    fi
}
