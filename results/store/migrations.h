/* migrations: the files of schemas/sql, compiled in, in the order of their numbers, which start at 1 and have
 * no gaps. A released file is never edited: every change is a new file.
 */
#pragma once

struct migration {
    int version;
    const char *name;
    const char *sql;
};

extern const struct migration migrations[];
extern const int migrations_count;
