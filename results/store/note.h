/* note: what a person wrote about a run or about a ticket: hypotheses, what was rejected, findings,
 * decisions.
 *
 * Reports and exports carry notes; nothing is ever judged by them. Of each run, or of a ticket as such, there
 * is one note for each section and language. The text is stored as it was written: UTF-8 of up to
 * NOTE_BYTES_MAX bytes, to be escaped by whoever shows it. A run that is removed takes its notes along until
 * it is ingested again. The owner calls notes_release(). Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

enum { NOTE_BYTES_MAX = 16 << 10, NOTE_LANG_MAX = 3 };

/* In the order in which a reader wants them. */
enum note_section {
    NOTE_FINDINGS,
    NOTE_HYPOTHESES,
    NOTE_REJECTED,
    NOTE_DECISION,
    NOTE_NEXT,
    NOTE_REMARKS,
    NOTE_SECTION_COUNT
};

struct note {
    char ticket[RUN_NAME_MAX];
    char run_id[RUN_ID_MAX]; /* "": of the ticket as such */
    char date[11];           /* of the run; "" for the ticket's */
    enum note_section section;
    char lang[NOTE_LANG_MAX]; /* "en", "es" */
    char who[RUN_NAME_MAX];
    int64_t noted_at; /* milliseconds since the epoch */
    char *text;
};

struct notes {
    struct note *items; /* by ticket: those of the ticket first, then the oldest run's */
    size_t count;
};

/* "findings" ... "remarks" */
const char *note_section_name(enum note_section s);
bool note_section_from_name(const char *name, enum note_section *out);

/* Replaces the note of the same ticket, run, section and language. date and noted_at are not read: it is
 * noted now. */
int note_save(struct store *s, const struct note *n, struct err *err);
/* ticket NULL: all. run_id NULL: those of the ticket and of each of its runs. */
int notes_load(struct store *s, const char *ticket, const char *run_id, struct notes *out, struct err *err);
/* run_id "": the ticket's own. section NOTE_SECTION_COUNT and lang NULL: any. */
int notes_drop(struct store *s, const char *ticket, const char *run_id, enum note_section section,
               const char *lang, int *dropped, struct err *err);
void notes_release(struct notes *n);
