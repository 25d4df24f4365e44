#!/usr/bin/env bash
# nightly --install-timer and --remove-timer, with stand-ins for systemctl and crontab: units or a line, once however
# often it is asked for, and nothing of anybody else's is touched.
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
# They get the environment that kernsweep chose.
sed -i "1a CALLS='$calls' TABLE='$table' SYSTEMD='$TMPDIR/systemd'" "$bin"/*
cp "$bin/crontab" "$bin/crontab.good"
export PATH=$bin:$PATH CALLS=$calls TABLE=$table SYSTEMD=$TMPDIR/systemd
unset XDG_CONFIG_HOME
plan="$TMPDIR/we ird/pl%an \$x \"q\".json"
units=$HOME/.config/systemd/user

# fresh cron|systemd: a plan, an empty crontab of somebody's, and no timer
fresh() {
    rm -rf "$units" "$SYSTEMD" "$calls"
    cp "$bin/crontab.good" "$bin/crontab"
    [ "$1" = cron ] || touch "$SYSTEMD"
    printf '# mine\n5 5 * * * true\n' >"$table"
    jq -n '{schema: "kernsweep.plan/1", ticket: "timed", node: "local", contexts: [16], timeouts: {default: 5},
        variants: [{name: "a", run: ["true"]}]}' >"$plan"
}

timer() {
    (cd "$TMPDIR/we ird" && "$KERNSWEEP" nightly "$plan" --db "$TMPDIR/r.db" --reports nights "$@")
}

crontab_as_before() {
    is "$1" "$(cat "$table")" "$(printf '# mine\n5 5 * * * true')"
}

cron_line() {
    fresh cron
    exits "exits 0" 0 timer --install-timer --at 03:07
    like "prints the line" "$ERR" "^7 3 \* \* \*  .*kernsweep.* 'nightly' "
    is "leaves the lines that were there" "$(head -n 2 "$table")" "$(printf '# mine\n5 5 * * * true')"
    like "writes absolute paths" "$(tail -n 1 "$table")" "'--reports' '$TMPDIR/we ird/nights'"
    unlike "escapes every percent sign, which cron would take" "$(tail -n 1 "$table")" "[^\\]%"
    # What sh makes of the line, as cron hands it over.
    tail -n 1 "$table" | sed 's/^\([^ ]* \)\{5\}//; s/\\%/%/g; s,^ *.[^ ]*/kernsweep. ,printf "%s\\n" ,' >"$TMPDIR/line.sh"
    sh "$TMPDIR/line.sh"
    is "quotes the plan's name for sh" "$(sed -n 2p "$TMPDIR/we ird/nights/nightly.log")" "$plan"
}

cron_again() {
    fresh cron
    timer --install-timer --at 03:07 2>/dev/null
    exits "exits 0" 0 timer --install-timer
    is "leaves one line" "$(grep -c nightly "$table")" 1
    like "leaves the time that was asked for last" "$(tail -n 1 "$table")" "^30 2 "
}

cron_removed() {
    fresh cron
    timer --install-timer 2>/dev/null
    exits "exits 0" 0 timer --remove-timer
    crontab_as_before "leaves the rest of the crontab as it was"
    exits "exits 0 a second time" 0 timer --remove-timer
    like "says the second time that there is no timer" "$ERR" "there is no timer for "
}

cron_refuses() {
    fresh cron
    printf '#!/bin/sh\necho "you may not" >&2\nexit 1\n' >"$bin/crontab"
    exits "exits 5" 5 timer --install-timer
    like "repeats what crontab printed" "$ERR" "crontab -l failed with exit code 1: you may not"
}

bad_time() {
    fresh systemd
    exits "exits 2" 2 timer --install-timer --at 24:00
    one_line "prints one line" "$ERR"
    exits "a sign before the hour exits 2" 2 timer --install-timer --at -0:30
    exits "so does one before the minutes" 2 timer --install-timer --at 02:+5
    exits "--at without --install-timer exits 2 instead of running the plan" 2 timer --at 02:30
    exits "so does --install-timer with --remove-timer" 2 timer --install-timer --remove-timer
}

units_written() {
    fresh systemd
    exits "exits 0" 0 timer --install-timer --at 23:59
    like "prints the timer's name and time" "$ERR" "enabled kernsweep-nightly-timed-[0-9a-f]{6}.timer, every day at 23:59"
    is "writes a service and a timer" "$(find "$units" -type f | sed 's/.*\.//' | sort | xargs)" "service timer"
    like "enables the timer" "$(tail -n 1 "$calls")" "--user enable --now kernsweep-nightly-timed-"
    like "sets the timer's time" "$(cat "$units"/*.timer)" "OnCalendar=\*-\*-\* 23:59:00"
    # shellcheck disable=SC2016 # a pattern
    like "doubles percent signs and dollars in the service" "$(cat "$units"/*.service)" 'pl%%an \$\$x \\"q\\".json'
    crontab_as_before "leaves the crontab alone"
    exits "exits 0 a second time" 0 timer --install-timer --at 23:59
    is "writes neither file a second time" "$(grep -c 'is up to date' <<<"$ERR")" 2
}

units_verified() {
    fresh systemd
    timer --install-timer --at 23:59 2>/dev/null
    is "systemd-analyze verify finds nothing" \
        "$(env PATH=/usr/bin:/bin systemd-analyze verify --user "$units"/*.timer "$units"/*.service 2>&1 | grep -i 'kernsweep-nightly')" ""
}

renamed_ticket() {
    fresh systemd
    timer --install-timer --at 23:59 2>/dev/null
    jq '.ticket = "renamed"' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
    exits "exits 0" 0 timer --install-timer --at 23:59
    is "leaves one timer, of the new name" "$(find "$units" -name '*.timer' | sed 's/.*nightly-\(.*\)-[0-9a-f]*.timer/\1/')" renamed
}

# Where clocks go forward at 2, systemd starts nothing at 02:30 that day; cron does so later.
hour_left_out() {
    fresh systemd
    TZ=America/New_York exits "exits 0" 0 timer --install-timer
    like "says which night it will skip" "$ERR" "^note: 02:30 does not exist on 20[0-9]{2}-03-[0-9]{2}, when clocks go forward, and systemd skips that night: --at 03:30 exists every day"
    TZ=America/New_York exits "at another time it exits 0" 0 timer --install-timer --at 03:30
    unlike "and has nothing to say" "$ERR" "does not exist"
    TZ=UTC exits "where clocks do not change it exits 0" 0 timer --install-timer
    unlike "and has nothing to say, either" "$ERR" "does not exist"
    fresh cron
    TZ=America/New_York exits "with cron it exits 0" 0 timer --install-timer
    unlike "and says nothing of it" "$ERR" "does not exist"
}

units_removed() {
    fresh systemd
    timer --install-timer --at 23:59 2>/dev/null
    touch "$units/kernsweep-nightly-other-123456.timer"
    rm "$plan"
    exits "exits 0, though the plan's file is gone" 0 timer --remove-timer
    is "removes both files and no others" "$(find "$units" -type f)" "$units/kernsweep-nightly-other-123456.timer"
    exits "exits 0 for a timer's name" 0 "$KERNSWEEP" nightly kernsweep-nightly-other-123456 --remove-timer
    is "removes the timer of that name" "$(find "$units" -type f)" ""
}

scenario "--install-timer without systemd" cron_line
scenario "--install-timer twice without systemd" cron_again
scenario "--remove-timer without systemd" cron_removed
scenario "--install-timer when crontab refuses" cron_refuses
scenario "--install-timer with a time that does not exist" bad_time
scenario "--install-timer with systemd" units_written
if command -v systemd-analyze >/dev/null; then
    scenario "the units of --install-timer" units_verified
else
    skip_scenario "the units of --install-timer" "no systemd-analyze"
fi
scenario "--install-timer at an hour that clocks leave out" hour_left_out
scenario "--install-timer under another ticket" renamed_ticket
scenario "--remove-timer with systemd" units_removed
done_testing
