#include "executor/code/archive.h"

enum { HEADER = 60, SIZE_AT = 48, SIZE_LEN = 10 };

#define MAGIC "!<arch>\n"

bool archive_is(struct span file)
{
    return span_begins(file, MAGIC, strlen(MAGIC));
}

static bool read_size(const uint8_t *text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < SIZE_LEN && text[i] != ' '; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

bool archive_next(struct span file, size_t *at, struct span *out)
{
    struct span header;
    uint64_t size;
    if (*at == 0)
        *at = strlen(MAGIC);
    while (span_part(file, *at, HEADER, &header) && read_size(header.data + SIZE_AT, &size) &&
           span_part(file, *at + HEADER, size, out)) {
        *at += HEADER + (size_t)(size + (size & 1));
        if (header.data[0] != '/' || (header.data[1] >= '0' && header.data[1] <= '9'))
            return true; /* "/12" is a long name; "/", "//" and "/SYM64/" are tables */
    }
    return false;
}
