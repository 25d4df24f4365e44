#include "results/store/note.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "results/store/handle.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const sections[NOTE_SECTION_COUNT] = {
    [NOTE_FINDINGS] = "findings", [NOTE_HYPOTHESES] = "hypotheses",
    [NOTE_REJECTED] = "rejected", [NOTE_DECISION] = "decision",
    [NOTE_NEXT] = "next",         [NOTE_REMARKS] = "remarks",
};

const char *note_section_name(enum note_section s)
{
    return sections[s];
}

bool note_section_from_name(const char *name, enum note_section *out)
{
    for (enum note_section s = 0; s < NOTE_SECTION_COUNT; s++)
        if (strcmp(name, sections[s]) == 0) {
            *out = s;
            return true;
        }
    return false;
}

int note_save(struct store *s, const struct note *n, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT OR REPLACE INTO note (ticket, run_id, section, lang, who, noted_at, body)"
                    " VALUES (:ticket, :run, :section, :lang, :who, :now, :body)",
                    err);
    sql_bind_text(stmt, ":ticket", n->ticket);
    sql_bind_text(stmt, ":run", n->run_id);
    sql_bind_text(stmt, ":section", sections[n->section]);
    sql_bind_text(stmt, ":lang", n->lang);
    sql_bind_text(stmt, ":who", n->who);
    sql_bind_int(stmt, ":now", llround(clock_real_s() * 1e3));
    sql_bind_text(stmt, ":body", n->text);
    return sql_run(stmt, err);
}

/* False for a section that only a newer kernsweep knows. */
static bool read_row(struct sql_stmt *stmt, struct note *out)
{
    const char *section = sql_col_str(stmt, "section", NULL);
    *out = (struct note){.noted_at = sql_col_int(stmt, "noted_at", 0)};
    if (!section || !note_section_from_name(section, &out->section))
        return false;
    sql_col_text(stmt, "ticket", out->ticket, sizeof out->ticket);
    sql_col_text(stmt, "run_id", out->run_id, sizeof out->run_id);
    sql_col_text(stmt, "date", out->date, sizeof out->date);
    sql_col_text(stmt, "lang", out->lang, sizeof out->lang);
    sql_col_text(stmt, "who", out->who, sizeof out->who);
    out->text = xstrdup(sql_col_str(stmt, "body", NULL));
    return true;
}

int notes_load(struct store *s, const char *ticket, const char *run_id, struct notes *out, struct err *err)
{
    *out = (struct notes){0};
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT n.ticket, n.run_id, n.section, n.lang, n.who, n.noted_at, n.body,"
                                " r.date FROM note n LEFT JOIN run r ON r.run_id = n.run_id"
                                " WHERE (:ticket IS NULL OR n.ticket = :ticket)"
                                " AND (:run IS NULL OR n.run_id = :run)"
                                " AND (n.run_id = '' OR r.id IS NOT NULL)"
                                " ORDER BY n.ticket, r.ordered_at, r.id, n.noted_at, n.section, n.lang",
                                err);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_text(stmt, ":run", run_id);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        out->count += read_row(stmt, &out->items[out->count]);
    }
    if (rc != 0)
        notes_release(out);
    return rc;
}

int notes_drop(struct store *s, const char *ticket, const char *run_id, enum note_section section,
               const char *lang, int *dropped, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "DELETE FROM note WHERE ticket = :ticket AND run_id = :run"
                                " AND (:section IS NULL OR section = :section)"
                                " AND (:lang IS NULL OR lang = :lang)",
                                err);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_text(stmt, ":run", run_id);
    sql_bind_text(stmt, ":section", section < NOTE_SECTION_COUNT ? sections[section] : NULL);
    sql_bind_text(stmt, ":lang", lang);
    if (sql_run(stmt, err) != 0)
        return -1;
    *dropped = sqlite3_changes(s->db);
    return 0;
}

void notes_release(struct notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i].text);
    free(n->items);
    *n = (struct notes){0};
}
