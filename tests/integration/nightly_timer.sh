#!/usr/bin/env bash
# nightly --install-timer and --remove-timer, with stand-ins for systemctl and crontab: units or a line, once however
# often it is asked for, and nothing of anybody else's is touched.
# timeout: 120
. tests/lib.sh

bin=$TMPDIR/bin
calls=$TMPDIR/calls
table=$TMPDIR/table
mkdir -p "$bin" "$TMPDIR/we ird"
cat >"$bin/systemctl" <<'SH'
#!/bin/sh
echo "$*" >>"$CALLS"
[ -e "$SYSTEMD" ]
SH
cat >"$bin/crontab" <<'SH'
#!/bin/sh
case $1 in
-l) [ -e "$TABLE" ] && exec cat "$TABLE"; echo "no crontab for someone" >&2; exit 1 ;;
-) exec cat >"$TABLE" ;;
esac
SH
chmod +x "$bin"/*
export PATH=$bin:$PATH CALLS=$calls TABLE=$table SYSTEMD=$TMPDIR/systemd
unset XDG_CONFIG_HOME
plan="$TMPDIR/we ird/pl%an \$x \"q\".json"
jq -n '{schema: "kernsweep.plan/1", ticket: "timed", node: "local", contexts: [16], timeouts: {default: 5},
    variants: [{name: "a", run: ["true"]}]}' >"$plan"
cd_night() {
    (cd "$TMPDIR/we ird" && "$KERNSWEEP" nightly "$plan" --db "$TMPDIR/r.db" --reports nights "$@")
}

printf '# mine\n5 5 * * * true\n' >"$table"
exits "without systemd it is a line of the crontab" 0 cd_night --install-timer --at 03:07
like "which is shown" "$ERR" "^7 3 \* \* \*  .*kernsweep.* 'nightly' "
is "below what was there" "$(head -n 2 "$table")" "$(printf '# mine\n5 5 * * * true')"
exits "again" 0 cd_night --install-timer
is "there is one line still" "$(grep -c nightly "$table")" 1
like "with the time asked for last" "$(tail -n 1 "$table")" "^30 2 "
like "every path is absolute" "$(tail -n 1 "$table")" "'--reports' '$TMPDIR/we ird/nights'"
# What sh makes of the line, as cron hands it over.
tail -n 1 "$table" | sed 's/^\([^ ]* \)\{5\}//; s/\\%/%/g; s,^ *.[^ ]*/kernsweep. ,printf "%s\\n" ,' >"$TMPDIR/line.sh"
sh "$TMPDIR/line.sh"
is "sh sees the plan's name whole" "$(sed -n 2p "$TMPDIR/we ird/nights/nightly.log")" "$plan"
unlike "no percent sign is left to cron" "$(tail -n 1 "$table")" "[^\\]%"
exits "taken out again" 0 cd_night --remove-timer
is "the rest of the crontab is as it was" "$(cat "$table")" "$(printf '# mine\n5 5 * * * true')"
exits "twice is fine" 0 cd_night --remove-timer
like "and said" "$ERR" "there is no timer for "

touch "$SYSTEMD"
units=$HOME/.config/systemd/user
exits "with systemd for users it is a timer" 0 cd_night --install-timer --at 23:59
like "which is said" "$ERR" "enabled kernsweep-nightly-timed-[0-9a-f]{6}.timer, every day at 23:59"
is "a service and a timer" "$(find "$units" -type f | sed 's/.*\.//' | sort | xargs)" "service timer"
like "the timer is enabled" "$(tail -n 1 "$calls")" "--user enable --now kernsweep-nightly-timed-"
like "at that time" "$(cat "$units"/*.timer)" "OnCalendar=\*-\*-\* 23:59:00"
# shellcheck disable=SC2016 # a pattern
like "percent signs and dollars are doubled" "$(cat "$units"/*.service)" 'pl%%an \$\$x \\"q\\".json'
is "the crontab is left alone" "$(cat "$table")" "$(printf '# mine\n5 5 * * * true')"
exits "again" 0 cd_night --install-timer --at 23:59
is "nothing is written twice" "$(grep -c 'is up to date' <<<"$ERR")" 2
if command -v systemd-analyze >/dev/null; then
    is "systemd finds nothing wrong with them" \
        "$(env PATH=/usr/bin:/bin systemd-analyze verify --user "$units"/*.timer "$units"/*.service 2>&1 | grep -i 'kernsweep-nightly')" ""
else
    skip "systemd finds nothing wrong with them" "no systemd-analyze"
fi
jq '.ticket = "renamed"' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
exits "under another ticket" 0 cd_night --install-timer --at 23:59
is "it is one timer still" "$(find "$units" -name '*.timer' | sed 's/.*nightly-\(.*\)-[0-9a-f]*.timer/\1/')" renamed
touch "$units/kernsweep-nightly-other-123456.timer"
rm "$plan"
exits "taken out again, though the plan's file is gone" 0 cd_night --remove-timer
is "both are gone, and no others" "$(find "$units" -type f)" "$units/kernsweep-nightly-other-123456.timer"
exits "by its name, too" 0 "$KERNSWEEP" nightly kernsweep-nightly-other-123456 --remove-timer
is "it is gone" "$(find "$units" -type f)" ""
jq -n '{schema: "kernsweep.plan/1", ticket: "timed", node: "local", contexts: [16], timeouts: {default: 5},
    variants: [{name: "a", run: ["true"]}]}' >"$plan"

exits "a time that is none is refused" 2 cd_night --install-timer --at 24:00
one_line "in one line" "$ERR"
rm "$SYSTEMD"
printf '#!/bin/sh\necho "you may not" >&2\nexit 1\n' >"$bin/crontab"
exits "a crontab that refuses" 5 cd_night --install-timer
like "says what it said" "$ERR" "crontab -l failed with exit code 1: you may not"
done_testing
