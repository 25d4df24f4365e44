#!/bin/sh
# workload VARIANT CONTEXT: a test of `make soak`. Prints a time that the checker knows, and does what $SOAK/marks/misdeed names
# in the first test of variant b.
variant=$1 context=$2
echo "$KERNSWEEP_RUN_ID $variant $context" >>"$SOAK/marks/starts"
misdeed='' extra=''
if [ "$variant$context" = b16 ] && [ -s "$SOAK/marks/misdeed" ]; then
    misdeed=$(cat "$SOAK/marks/misdeed")
    # shellcheck source=tests/soak/misdeeds.sh
    . "$SOAK/src/misdeeds.sh"
    "$misdeed"
fi
if [ "$variant$context" = a32 ]; then
    # shellcheck source=tests/soak/look
    . "$SOAK/src/look"
    look "$PPID" >"$SOAK/marks/executor"
fi
sleep 0.03
case $variant in a) tenths=6 ;; *) tenths=7 ;; esac
echo "Prompt tokens: $context"
printf '[PERF_TIMING] {"prefill_s": 0.%s%s, "attn_impl": "x"%s}\n' "$tenths" "$context" "$extra"
