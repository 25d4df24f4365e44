#include "harness/session/finding.h"

#include "common/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *preflight_level_name(enum preflight_level l)
{
    switch (l) {
    case PREFLIGHT_OK:
        return "ok";
    case PREFLIGHT_WARNING:
        return "warning";
    case PREFLIGHT_BLOCKER:
        return "blocker";
    }
    return "?";
}

json_t *preflight_encode(const struct preflight *p, enum preflight_level from)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const struct finding *f = &p->findings[i];
        if (f->level >= from)
            json_array_append_new(all,
                                  json_pack("{s:s, s:s, s:s, s:s}", "level", preflight_level_name(f->level),
                                            "subject", f->subject, "text", f->text, "remedy", f->remedy));
    }
    return all;
}

void preflight_add(struct preflight *p, enum preflight_level level, const char *subject, const char *remedy,
                   const char *fmt, ...)
{
    struct finding *f = &p->findings[p->count < PREFLIGHT_MAX ? p->count++ : PREFLIGHT_MAX - 1];
    char raw[2 * PREFLIGHT_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    *f = (struct finding){.level = level, .subject = subject};
    text_printable_fixed(f->text, sizeof f->text, raw, strlen(raw));
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
    if (level > p->worst)
        p->worst = level;
}
