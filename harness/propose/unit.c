#include "harness/propose/unit.h"

#include "common/contract/own_metric.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 24, WORDS_MAX = 64 };

struct word {
    char text[WORD_MAX + 1];
    size_t end; /* of the word in what it was read from */
};

struct spelling {
    const char *spelled, *unit;
};

/* Short units of time are case-sensitive: 5 MS is not a time. */
static const struct spelling times[] = {
    {"s", "s"},
    {"sec", "s"},
    {"secs", "s"},
    {"second", "s"},
    {"seconds", "s"},
    {"ms", "ms"},
    {"msec", "ms"},
    {"msecs", "ms"},
    {"millisecond", "ms"},
    {"milliseconds", "ms"},
    {"millis", "ms"},
    {"us", "us"},
    {"usec", "us"},
    {"usecs", "us"},
    {"\xc2\xb5s", "us"},
    {"\xce\xbcs", "us"},
    {"microsecond", "us"},
    {"microseconds", "us"},
    {"micros", "us"},
    {"ns", "ns"},
    {"nsec", "ns"},
    {"nsecs", "ns"},
    {"nanosecond", "ns"},
    {"nanoseconds", "ns"},
    {"nanos", "ns"},
    {"minutes", "min"},
    {"mins", "min"},
    {"hour", "h"},
    {"hours", "h"},
    {"hrs", "h"},
    {"day", "day"},
    {"days", "day"},
};

/* What rates are in, where the spelling differs from the name. */
static const struct spelling amounts[] = {
    {"tokens", "tok"},      {"token", "tok"},    {"toks", "tok"},       {"t", "tok"},
    {"iterations", "it"},   {"iteration", "it"}, {"iters", "it"},       {"iter", "it"},
    {"requests", "req"},    {"request", "req"},  {"reqs", "req"},       {"operations", "op"},
    {"ops", "op"},          {"bytes", "B"},      {"byte", "B"},         {"bits", "bit"},
    {"flops", "FLOP"},      {"flop", "FLOP"},    {"frame", "frames"},   {"image", "images"},
    {"img", "images"},      {"imgs", "images"},  {"sample", "samples"}, {"step", "steps"},
    {"samples", "samples"}, {"steps", "steps"},  {"images", "images"},  {"frames", "frames"},
    {"events", "events"},
};

/* Words that are rates by themselves. */
static const struct spelling rates[] = {
    {"fps", "frames/s"}, {"iops", "op/s"},   {"tps", "tps"},     {"qps", "qps"},     {"rps", "req/s"},
    {"gups", "GUPS"},    {"mups", "MUPS"},   {"teps", "TEPS"},   {"mteps", "MTEPS"}, {"gteps", "GTEPS"},
    {"lups", "LUPS"},    {"mlups", "MLUPS"}, {"glups", "GLUPS"}, {"tops", "TOP/s"},  {"gops", "GOP/s"},
    {"mops", "MOP/s"},   {"gcups", "GCUPS"},
};

/* Rates of these are better when lower, or say nothing. */
static const char *const unwanted[] = {"error",    "errors", "failures",   "misses",      "faults", "drops",
                                       "retries",  "allocs", "stalls",     "timeouts",    "losses", "cycles",
                                       "rejected", "joules", "interrupts", "preemptions", NULL};

static const char *const statistics[] = {"mean", "avg",   "average", "median", "min",
                                         "max",  "std",   "stddev",  "total",  "sum",
                                         "best", "worst", "geomean", "last",   NULL};

static bool is_letter(const char *s)
{
    return isalpha((unsigned char)*s) || (unsigned char)*s >= 0x80;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcasecmp(word, *list) == 0)
            return true;
    return false;
}

static const char *find(const struct spelling *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(word) > 2 ? strcasecmp(list[i].spelled, word) == 0 : strcmp(list[i].spelled, word) == 0)
            return list[i].unit;
    return NULL;
}

static const char *time_of(const char *word)
{
    /* Only at the end of a camel-cased name, such as latencyMs. */
    static const struct spelling capital[] = {{"Ms", "ms"}, {"Us", "us"}, {"Ns", "ns"}};
    const char *unit = find(times, sizeof times / sizeof *times, word);
    return unit ? unit : find(capital, sizeof capital / sizeof *capital, word);
}

/* Splits a prefix such as G or Gi off "GBytes", "gb", "Mbit", "TFLOPs"; writes the unit. Returns false if the
 * rest is no amount that has prefixes. */
static bool scaled(const char *word, char *out, size_t cap)
{
    char prefix = (char)toupper((unsigned char)*word);
    const char *rest = word + 1 + (word[1] == 'i' && word[2] != '\0' && strcasecmp(word + 1, "it") != 0);
    const char *binary = rest == word + 2 ? "i" : "", *unit = NULL;
    if (!*word || !word[1] || !strchr("KMGTPE", prefix))
        return false;
    if (strcmp(rest, "B") == 0 || strcasecmp(rest, "byte") == 0 || strcasecmp(rest, "bytes") == 0)
        unit = "B";
    else if (strcasecmp(rest, "bit") == 0 || strcasecmp(rest, "bits") == 0)
        unit = "bit";
    else if (strcmp(rest, "b") ==
             0) /* Gb are bits; in gb, as in keys, case says nothing, and bytes are usual */
        unit = isupper((unsigned char)*word) ? "bit" : "B";
    else if (strcasecmp(rest, "flop") == 0 || strcasecmp(rest, "flops") == 0)
        unit = "FLOP";
    if (!unit)
        return false;
    snprintf(out, cap, "%c%s%s", prefix == 'K' && *unit != 'F' ? *binary ? 'K' : 'k' : prefix, binary, unit);
    return true;
}

static void name_amount(const char *word, char *out, size_t cap)
{
    const char *known = find(amounts, sizeof amounts / sizeof *amounts, word);
    if (known || !scaled(word, out, cap))
        snprintf(out, cap, "%s", known ? known : word);
}

static bool give(struct propose_unit *out, const char *a, const char *b, const char *c, bool more)
{
    int n = snprintf(out->unit, sizeof out->unit, "%s%s%s%s%s", a, *b ? "/" : "", b, *c ? "/" : "", c);
    if (n >= (int)sizeof out->unit || !own_metric_is_unit(out->unit))
        out->unit[0] = '\0';
    out->more = more;
    return true;
}

/* A word that is a unit by itself: a time, or a rate such as TFLOPS, GBps or fps. */
static bool of_word(const char *word, struct propose_unit *out)
{
    const char *unit = time_of(word), *rate = find(rates, sizeof rates / sizeof *rates, word);
    char amount[WORD_MAX + 8], rest[WORD_MAX + 1];
    size_t n = strlen(word);
    if (unit || rate)
        return give(out, unit ? unit : rate, "", "", !unit);
    if (strcmp(word, "FLOPS") == 0) /* FLOPs are as often a number of operations */
        return give(out, "FLOP", "s", "", true);
    if (n == 6 && strcasecmp(word + 1, "flops") == 0)
        return scaled(word, amount, sizeof amount) && give(out, amount, "s", "", true);
    /* GBps and Gbps; of gbps nobody can tell whether it is bits */
    if (n < 4 || n > 5 || strcmp(word + n - 2, "ps") != 0 || tolower((unsigned char)word[n - 3]) != 'b')
        return false;
    snprintf(rest, sizeof rest, "%.*s", (int)(n - 2), word);
    if (!scaled(rest, amount, sizeof amount))
        return false;
    return islower((unsigned char)*word) && word[n - 3] == 'b' ? give(out, word, "", "", true)
                                                               : give(out, amount, "s", "", true);
}

/* above / below, and perhaps / third. */
static bool of_fraction(const char *above, const char *below, const char *third, struct propose_unit *out)
{
    static const struct spelling longer[] = {{"min", "min"}, {"minute", "min"}, {"hr", "h"}, {"h", "h"}};
    const char *top = time_of(above), *bottom = time_of(below);
    if (!bottom)
        bottom = find(longer, sizeof longer / sizeof *longer, below);
    static const char *const quantities[] = {"time", "latency", "duration", "elapsed", "runtime", NULL};
    if (bottom && is_one_of(above, quantities)) /* "time/ms" is a label */
        return give(out, bottom, "", "", false);
    bool day = bottom && (strcmp(bottom, "day") == 0 || strcmp(bottom, "h") == 0);
    char amount[WORD_MAX + 8];
    if (top && day) /* simulated time */
        return give(out, top, bottom, third, true);
    if (top) {
        const char *known = find(amounts, sizeof amounts / sizeof *amounts, below);
        bool plural = known && known[strlen(known) - 1] == 's';
        return give(out, top, bottom ? bottom : known && !plural ? known : below, third, false);
    }
    if (!bottom || is_one_of(above, unwanted))
        return false;
    name_amount(above, amount, sizeof amount);
    return give(out, amount, bottom, third, true);
}

/* Reads a word of letters, in which '-' may stand; returns its length, 0 if there is none that fits. */
static size_t read_word(const char *s, size_t len, char *out)
{
    size_t n = 0;
    while (n < len && (is_letter(s + n) || (n > 0 && s[n] == '-' && n + 1 < len && is_letter(s + n + 1))))
        n++;
    if (n > WORD_MAX)
        return 0;
    memcpy(out, s, n);
    out[n] = '\0';
    return n;
}

/* What divides two words: "/", " per ", "_per_", "-per-"; 0 if nothing does. */
static size_t division(const char *s, size_t len)
{
    if (len > 0 && *s == '/')
        return 1;
    if (len > 5 && strchr(" _-", *s) && strncasecmp(s + 1, "per", 3) == 0 && strchr(" _-", s[4]))
        return 5;
    return 0;
}

/* The unit of whole words at the start of s. */
static bool plain_at(const char *s, size_t len, struct propose_unit *out)
{
    char word[3][WORD_MAX + 1] = {"", "", ""};
    size_t at = 0, n = 0, over;
    for (n = 0; n < 3; n++) {
        over = n > 0 ? division(s + at, len - at) : 0;
        size_t length = n > 0 && over == 0 ? 0 : read_word(s + at + over, len - at - over, word[n]);
        if (length == 0)
            break;
        at += over + length;
    }
    if (n == 0 || (at < len && (isalnum((unsigned char)s[at]) || s[at] == '_' || s[at] == '/')))
        return false;
    out->length = at;
    return n == 1 ? of_word(word[0], out) : of_fraction(word[0], word[1], word[2], out);
}

static bool is_label(const char *s, size_t len)
{
    size_t at = 0;
    while (at < len && (s[at] == ' ' || s[at] == '\t'))
        at++;
    return at < len && (s[at] == '=' || s[at] == ':');
}

/* "1000s of bytes" are no seconds. */
static bool counts_what_follows(const char *s, size_t len)
{
    static const char plural[] = "s of ";
    return len >= sizeof plural - 1 && memcmp(s, plural, sizeof plural - 1) == 0;
}

bool propose_unit_at(const char *s, size_t len, struct propose_unit *out)
{
    bool open = len > 0 && strchr("[(", *s);
    *out = (struct propose_unit){.length = 0};
    if (counts_what_follows(s, len) || !plain_at(s + open, len - open, out))
        return false;
    out->length += open;
    if (open && (out->length == len || s[out->length++] != (*s == '[' ? ']' : ')')))
        return false;
    return !is_label(s + out->length, len - out->length);
}

/* Splits at everything but letters and digits, and before a capital after a small letter; keeps the last
 * words. */
static size_t split(const char *s, size_t len, struct word *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t from = i;
        while (i < len && (isalnum((unsigned char)s[i]) || is_letter(s + i)) &&
               !(i > from && isupper((unsigned char)s[i]) && islower((unsigned char)s[i - 1]) &&
                 (i < from + 2 || islower((unsigned char)s[i - 2]))))
            i++;
        if (i > from && i - from <= WORD_MAX) {
            if (n == WORDS_MAX)
                memmove(out, out + 1, --n * sizeof *out);
            memcpy(out[n].text, s + from, i - from);
            out[n].text[i - from] = '\0';
            out[n++].end = i;
        } else if (i > from)
            n = 0;
        i += i == from;
    }
    return n;
}

/* p99 and mean may follow the unit: latency_ms_p99. */
static bool is_statistic(const char *word)
{
    return is_one_of(word, statistics) || ((*word == 'p' || *word == 'P') && isdigit((unsigned char)word[1]));
}

/* tok_s and gb_s are rates. Of iter_s nobody can tell whether it is the one or the other. */
static bool of_pair(const char *above, const char *below, bool *ambiguous, struct propose_unit *out)
{
    static const char *const plural[] = {"tok",        "tokens", "toks",     "flop",   "flops",
                                         "samples",    "images", "requests", "steps",  "iters",
                                         "iterations", "ops",    "bytes",    "frames", NULL},
                             *const either[] = {"it", "iter", "req", "op", "iteration", "request", NULL};
    char amount[WORD_MAX + 8];
    if (strcmp(below, "s") != 0 && strcasecmp(below, "sec") != 0)
        return false;
    *ambiguous = is_one_of(above, either);
    return (is_one_of(above, plural) || scaled(above, amount, sizeof amount)) &&
           of_fraction(above, below, "", out);
}

/* gbs, as in keys; after a number, "16 GBs" is an amount. */
static bool of_short(const char *word, struct propose_unit *out)
{
    char amount[WORD_MAX + 8], rest[WORD_MAX + 1];
    size_t n = strlen(word);
    snprintf(rest, sizeof rest, "%.*s", n > 0 ? (int)n - 1 : 0, word);
    return n >= 3 && n <= 4 && word[n - 1] == 's' && tolower((unsigned char)word[n - 2]) == 'b' &&
           scaled(rest, amount, sizeof amount) && give(out, amount, "s", "", true);
}

/* The unit that a name ends with: words joined by '_', spaces or capitals. */
static bool of_name(const char *label, size_t len, struct propose_unit *out)
{
    struct word w[WORDS_MAX];
    bool ambiguous = false;
    size_t n = split(label, len, w);
    while (n > 1 && is_statistic(w[n - 1].text))
        n--;
    if (n == 0)
        return false;
    if (n > 4 && strcasecmp(w[n - 2].text, "per") == 0 && strcasecmp(w[n - 4].text, "per") == 0)
        return of_fraction(w[n - 5].text, w[n - 3].text, w[n - 1].text, out);
    if (n > 2 && strcasecmp(w[n - 2].text, "per") == 0)
        return label[w[n - 3].end] != ')' && of_fraction(w[n - 3].text, w[n - 1].text, "", out);
    if (n > 1 && strcasecmp(w[n - 2].text, "per") == 0)
        return false;
    if (n > 1 && of_pair(w[n - 2].text, w[n - 1].text, &ambiguous, out))
        return true;
    /* llama-bench's avg_ts; otherwise ts is a time stamp */
    if (n == 2 && strcmp(w[0].text, "avg") == 0 && strcmp(w[1].text, "ts") == 0)
        return give(out, "tok", "s", "", true);
    return !ambiguous && (of_word(w[n - 1].text, out) || of_short(w[n - 1].text, out));
}

/* Whether "(s)" after this makes a plural, as in "GPU(s)", rather than a time, as in "Time(s)". */
static bool is_plural(const char *label, size_t len)
{
    static const char *const timed[] = {"time",   "latency", "elapsed", "duration", "runtime",
                                        "wall",   "delay",   "wait",    "avg",      "mean",
                                        "median", "min",     "max",     "took",     NULL};
    struct word w[WORDS_MAX];
    size_t n = split(label, len, w);
    return len > 0 && label[len - 1] != ' ' && label[len - 1] != '_' &&
           !(n > 0 && is_one_of(w[n - 1].text, timed));
}

/* The unit in the brackets that a label ends with; from: where they begin. */
static bool of_brackets(const char *label, size_t len, size_t *from, struct propose_unit *out)
{
    char close = label[len - 1], open = close == ')' ? '(' : close == ']' ? '[' : '<';
    size_t at = len - 1;
    while (at > 0 && label[at] != open)
        at--;
    *from = at;
    if (label[at] != open || at + 2 >= len)
        return false;
    const char *inner = label + at + 1;
    size_t n = len - at - 2;
    if (n == 1 && *inner == 's' && is_plural(label, at))
        return false;
    n = strcspn(inner, ",;)]>") < n ? strcspn(inner, ",;)]>") : n;
    while (n > 0 && *inner == ' ') {
        inner++;
        n--;
    }
    if (strncasecmp(inner, "in ", 3) == 0 && n > 3) {
        inner += 3;
        n -= 3;
    }
    return plain_at(inner, n, out);
}

/* A fraction with a slash: everything from the last white space or bracket on. */
static bool of_slash(const char *label, size_t len, struct propose_unit *out)
{
    size_t from = len;
    while (from > 0 && (is_letter(label + from - 1) || strchr("/-", label[from - 1])))
        from--;
    /* The name of a program before its unit: "hipblaslt-GB/s". */
    const char *slash = memchr(label + from, '/', len - from), *dash = memchr(label + from, '-', len - from);
    char word[WORD_MAX + 1] = "", amount[WORD_MAX + 8];
    if (slash && dash && dash < slash && read_word(dash + 1, (size_t)(slash - dash) - 1, word) > 0 &&
        scaled(word, amount, sizeof amount))
        from = (size_t)(dash + 1 - label);
    return slash && plain_at(label + from, len - from, out) && out->length == len - from;
}

bool propose_unit_of(const char *label, size_t len, struct propose_unit *out)
{
    *out = (struct propose_unit){.length = 0};
    for (int turn = 0; turn < 3; turn++) {
        while (len > 0 && strchr(" \t:=\"',|.", label[len - 1]))
            len--;
        if (len == 0)
            return false;
        if (!strchr(")]>", label[len - 1]))
            break;
        if (of_brackets(label, len, &len, out))
            return true;
    }
    if (len > 0 && memchr(label, '/', len) && of_slash(label, len, out))
        return true;
    /* A slash that is no fraction of known words must not leave its second word as the unit. */
    size_t from = len;
    while (from > 0 && (isalnum((unsigned char)label[from - 1]) || strchr("_-", label[from - 1])))
        from--;
    return (from == 0 || label[from - 1] != '/') && of_name(label, len, out);
}
