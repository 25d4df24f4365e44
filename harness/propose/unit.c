#include "harness/propose/unit.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A spelling must precede its own prefixes. */
static const struct propose_unit units[] = {
    {"milliseconds", "ms", false},
    {"millisecond", "ms", false},
    {"msecs", "ms", false},
    {"msec", "ms", false},
    {"ms", "ms", false},
    {"microseconds", "us", false},
    {"microsecond", "us", false},
    {"usec", "us", false},
    {"us", "us", false},
    {"\xc2\xb5s", "us", false},
    {"\xce\xbcs", "us", false},
    {"nanoseconds", "ns", false},
    {"nsec", "ns", false},
    {"ns", "ns", false},
    {"seconds", "s", false},
    {"second", "s", false},
    {"secs", "s", false},
    {"sec", "s", false},
    {"s", "s", false},
    {"TFLOP/s", "TFLOP/s", true},
    {"TFLOPS", "TFLOP/s", true},
    {"GFLOP/s", "GFLOP/s", true},
    {"GFLOPS", "GFLOP/s", true},
    {"TB/sec", "TB/s", true},
    {"TB/s", "TB/s", true},
    {"GiB/s", "GiB/s", true},
    {"GB/sec", "GB/s", true},
    {"GB/s", "GB/s", true},
    {"GBps", "GB/s", true},
    {"GBs", "GB/s", true},
    {"GB_s", "GB/s", true},
    {"MiB/s", "MiB/s", true},
    {"MB/s", "MB/s", true},
    {"tokens per second", "tok/s", true},
    {"tokens_per_second", "tok/s", true},
    {"tokens_per_s", "tok/s", true},
    {"tok_per_s", "tok/s", true},
    {"tokens/sec", "tok/s", true},
    {"tokens/s", "tok/s", true},
    {"tok/s", "tok/s", true},
    {"tok_s", "tok/s", true},
    {"ts", "tok/s", true}, /* llama-bench's avg_ts */
    {"t/s", "tok/s", true},
    {"iterations/s", "it/s", true},
    {"iter/s", "it/s", true},
    {"it/s", "it/s", true},
    {"ops/s", "op/s", true},
    {"op/s", "op/s", true},
    {"images/s", "images/s", true},
    {"samples/s", "samples/s", true},
    {"elements/s", "elements/s", true},
    {"GUPS", "GUPS", true},
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c);
}

/* Units of time are case-sensitive: 5 MS is not a time. */
static bool spelled(const struct propose_unit *u, const char *s, size_t n)
{
    return u->more || n > 2 ? strncasecmp(s, u->spelling, n) == 0 : strncmp(s, u->spelling, n) == 0;
}

const struct propose_unit *propose_unit_at(const char *s, size_t len)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].spelling);
        if (n <= len && spelled(&units[i], s, n) && (n == len || !is_word(s[n])) &&
            !strchr(units[i].spelling, '_') && strcmp(units[i].spelling, "ts") != 0)
            return &units[i];
    }
    return NULL;
}

const struct propose_unit *propose_unit_of(const char *label, size_t len)
{
    while (len > 0 && strchr(" \t:=()[]\"'", label[len - 1]))
        len--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].spelling);
        if (n <= len && spelled(&units[i], label + len - n, n) && (n == len || !is_word(label[len - n - 1])))
            return &units[i];
    }
    return NULL;
}
