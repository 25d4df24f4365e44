#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/base/regex.h"

#include <pcre2.h>
#include <stdint.h>

/* These steps per starting position are enough for ".*" over the longest line, yet far below a second. */
static const uint32_t match_limit = 200000;
static const uint32_t heap_limit_kib = 16 << 10;

static const uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_DUPNAMES | PCRE2_NEVER_UTF |
                                PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;

static int fail_compile(int code, size_t at, struct err *err)
{
    PCRE2_UCHAR text[160];
    if (pcre2_get_error_message(code, text, sizeof text) < 0)
        text[0] = '\0';
    return err_set(err, ERR_INPUT, "%s, at byte %zu", (const char *)text, at);
}

int regex_compile(struct regex *re, const char *pattern, struct err *err)
{
    int code;
    size_t at;
    *re = (struct regex){
        .code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL)};
    if (!re->code)
        return fail_compile(code, at, err);
    re->found = pcre2_match_data_create_from_pattern(re->code, NULL);
    re->limits = pcre2_match_context_create(NULL);
    if (!re->found || !re->limits) {
        regex_release(re);
        return err_set(err, ERR_INTERNAL, "out of memory for a regular expression");
    }
    pcre2_set_match_limit(re->limits, match_limit);
    pcre2_set_heap_limit(re->limits, heap_limit_kib);
    return 0;
}

void regex_release(struct regex *re)
{
    pcre2_match_context_free(re->limits);
    pcre2_match_data_free(re->found);
    pcre2_code_free(re->code);
    *re = (struct regex){.code = NULL};
}

static uint32_t pattern_info(const struct regex *re, uint32_t what)
{
    uint32_t value = 0;
    pcre2_pattern_info(re->code, what, &value);
    return value;
}

size_t regex_groups(const struct regex *re)
{
    return pattern_info(re, PCRE2_INFO_CAPTURECOUNT);
}

size_t regex_names(const struct regex *re)
{
    return pattern_info(re, PCRE2_INFO_NAMECOUNT);
}

/* A PCRE2 table entry is the group's number in two bytes, then the name. */
const char *regex_name(const struct regex *re, size_t i, size_t *group)
{
    PCRE2_SPTR table;
    pcre2_pattern_info(re->code, PCRE2_INFO_NAMETABLE, &table);
    PCRE2_SPTR entry = table + i * pattern_info(re, PCRE2_INFO_NAMEENTRYSIZE);
    *group = (size_t)entry[0] << 8 | entry[1];
    return (const char *)entry + 2;
}

int regex_match(const struct regex *re, const char *text, size_t len, size_t from, struct err *err)
{
    int rc = pcre2_match(re->code, (PCRE2_SPTR)text, len, from, 0, re->found, re->limits);
    if (rc >= 0)
        return 1;
    return rc == PCRE2_ERROR_NOMATCH
               ? 0
               : err_set(err, ERR_INPUT, "the regular expression takes too long or too much memory to match");
}

bool regex_group(const struct regex *re, size_t group, size_t *at, size_t *len)
{
    const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(re->found);
    if (group >= pcre2_get_ovector_count(re->found) || bounds[2 * group] == PCRE2_UNSET ||
        bounds[2 * group + 1] < bounds[2 * group])
        return false;
    *at = bounds[2 * group];
    *len = bounds[2 * group + 1] - bounds[2 * group];
    return true;
}
