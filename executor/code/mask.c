#include "executor/code/mask.h"

#include <stdio.h>

enum { DIGITS_SHORT = 8, DIGITS_LONG = 16, DATE_LEN = 11, TIME_LEN = 8 };

static const char zeros[DIGITS_LONG + 1] = "0000000000000000";

static bool is_symbol_char(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '$';
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool begins_at(struct span s, size_t at, const char *text)
{
    size_t len = strlen(text);
    return s.len - at >= len && memcmp(s.data + at, text, len) == 0;
}

/* Returns the length of a marker at that place, behind which digits are derived from a path; 0: none. */
static size_t marker_at(struct span s, size_t at)
{
    static const char *const markers[] = {"_GLOBAL__N__",   "_INTERNAL_", "__nv_static_", "__hip_cuid_",
                                          "__static__",     "__intern__", ".static.",     ".intern.",
                                          "__nv_module_id", ".managed."};
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (begins_at(s, at, markers[i]))
            return strlen(markers[i]);
    return 0;
}

/* Returns how many hexadecimal digits follow that place: 16, 8 or 0. */
static size_t digits_at(struct span s, size_t at)
{
    size_t n = 0;
    while (n < DIGITS_LONG && at + n < s.len && is_hex(s.data[at + n]))
        n++;
    return n >= DIGITS_LONG ? DIGITS_LONG : n >= DIGITS_SHORT ? DIGITS_SHORT : 0;
}

static bool matches(struct span s, size_t at, const char *pattern)
{
    for (size_t i = 0; pattern[i]; i++) {
        uint8_t c = at + i < s.len ? s.data[at + i] : 0;
        bool digit = c >= '0' && c <= '9';
        bool good = pattern[i] == '0'   ? digit
                    : pattern[i] == '?' ? digit || c == ' '
                    : pattern[i] == 'A' ? c >= 'A' && c <= 'Z'
                    : pattern[i] == 'a' ? c >= 'a' && c <= 'z'
                                        : c == (uint8_t)pattern[i];
        if (!good)
            return false;
    }
    return true;
}

/* Returns how many bytes at that place belong to a folder, a date or a time of day. */
static size_t skipped_at(const struct mask *m, struct span s, size_t at)
{
    for (size_t i = 0; i < MASK_FOLDERS; i++)
        if (m->folder[i] && *m->folder[i] && begins_at(s, at, m->folder[i]))
            return strlen(m->folder[i]);
    if (matches(s, at, "Aaa ?0 0000"))
        return DATE_LEN;
    return matches(s, at, "00:00:00") ? TIME_LEN : 0;
}

static bool is_interesting(uint8_t c)
{
    return c == '/' || c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

void mask_add(const struct mask *m, struct sha256 *h, struct span s)
{
    size_t begin = 0, i = 0;
    bool generated = false; /* behind a marker, within its name */
    if (s.len == 0)
        return; /* an empty section may have no bytes to point at */
    while (i < s.len) {
        uint8_t c = s.data[i];
        generated = generated && is_symbol_char(c);
        if (!is_interesting(c)) {
            i++;
            continue;
        }
        size_t marker = marker_at(s, i), skip = marker ? 0 : skipped_at(m, s, i);
        generated = generated || marker;
        size_t keep = marker ? marker : c == '_' || c == '.' ? 1 : 0;
        size_t digits = keep && generated ? digits_at(s, i + keep) : 0;
        if (skip || digits) {
            sha256_add(h, s.data + begin, i + keep - begin);
            sha256_add(h, zeros, digits);
            begin = i + keep + digits + skip;
        }
        i += keep + digits + skip ? keep + digits + skip : 1;
    }
    sha256_add(h, s.data + begin, s.len - begin);
}

/* Names of any length are masked; only what is shown of them is cut. */
void mask_name(const char *name, char out[MASK_NAME_MAX])
{
    enum { SHOWN = MASK_NAME_MAX - SHA256_HEX_LEN - 2 };
    struct span s = {(const uint8_t *)name, strlen(name)};
    bool generated = false;
    if (s.len >= MASK_NAME_MAX) {
        char sha256[SHA256_HEX_LEN + 1];
        static const struct mask none = {.folder = {NULL}};
        struct sha256 h;
        sha256_begin(&h);
        mask_add(&none, &h, s);
        sha256_end(&h, sha256);
        snprintf(out, MASK_NAME_MAX, "%.*s~%s", (int)SHOWN, name, sha256);
        s = (struct span){(const uint8_t *)out, SHOWN};
    } else {
        memcpy(out, name, s.len + 1);
    }
    for (size_t i = 0; i < s.len;) {
        size_t marker = marker_at(s, i);
        generated = generated || marker;
        size_t keep = marker ? marker : 1;
        size_t digits =
            generated && (marker || name[i] == '_' || name[i] == '.') ? digits_at(s, i + keep) : 0;
        memcpy(out + i + keep, zeros, digits);
        i += keep + digits;
    }
}

void mask_add_name(struct sha256 *h, const char *name)
{
    char masked[MASK_NAME_MAX];
    mask_name(name, masked);
    sha256_add_text(h, masked);
}
