/* markdown: writes GitHub-flavoured Markdown; data can never act as markup.
 *
 * Templates (message.h) are written unchanged; everything else is escaped (escape.h). External text, such as
 * names and reasons, belongs in code spans. The struct buf remembers errors. Knows nothing of runs.
 */
#pragma once

#include "common/base/buf.h"
#include "reports/render/figure.h"
#include "reports/render/table.h"
#include "reports/words/message.h"

#include <stdbool.h>
#include <stddef.h>

/* The location of a document, and its plots. Borrowed; NULL where absent. */
struct md_place {
    const struct figure_set *figures;
    const char *figures_href; /* path of the folder of its plots, relative to the document */
    const char *folder;       /* absolute; relative links start there */
};

struct md {
    struct buf *out; /* not owned */
    enum report_lang lang;
    const struct md_place *place; /* NULL: a document without plots */
};

/* Inline. Data are truncated to ESCAPE_BYTES_MAX bytes. */
void md_text(struct md *w, const char *s);
void md_code(struct md *w, const char *s);
void md_link(struct md *w, const char *text, const char *target);
void md_say_args(struct md *w, enum msg id, const char *const *args);
#define md_say(w, id, ...) md_say_args((w), (id), (const char *const[]){"", ##__VA_ARGS__, NULL})

/* Blocks. A list is items and then md_end(). */
void md_heading(struct md *w, int level, enum msg id);
void md_title(struct md *w, int level, const char *text);
#define md_para(w, id, ...)                                                                                  \
    do {                                                                                                     \
        md_say((w), (id), ##__VA_ARGS__);                                                                    \
        md_end(w);                                                                                           \
    } while (0)
#define md_item(w, id, ...)                                                                                  \
    do {                                                                                                     \
        md_bullet(w);                                                                                        \
        md_say((w), (id), ##__VA_ARGS__);                                                                    \
        md_line(w);                                                                                          \
    } while (0)
void md_bullet(struct md *w);
void md_line(struct md *w); /* ends a line */
void md_end(struct md *w);  /* ends a block: one blank line, never two */
/* Truncates the document to an earlier length. */
void md_truncate(struct md *w, size_t len);
/* A heading that is removed if nothing stands below it at the end of its part. */
struct md_part {
    size_t start, empty; /* lengths of the document before the heading and after it */
};
struct md_part md_part_begin(struct md *w, int level, enum msg id);
bool md_part_end(struct md *w, const struct md_part *part); /* false: it was removed */
void md_image(struct md *w, const char *alt, const char *target);
/* The plots of that kind, each with its caption below it. */
void md_figures(struct md *w, enum figure_kind kind);
/* What stands between the two is folded away below a line of text, in which data in code spans appear as
 * plain text. Blocks only; folds do not nest. */
void md_fold_args(struct md *w, enum msg id, const char *const *args);
#define md_fold(w, id, ...) md_fold_args((w), (id), (const char *const[]){"", ##__VA_ARGS__, NULL})
void md_fold_end(struct md *w);
/* How folds begin and end in a document. */
#define MD_FOLD_BEGIN "<details><summary>"
#define MD_FOLD_SUMMARY_END "</summary>"
#define MD_FOLD_END "</details>"
/* Marks what follows as written in w's language, for screen readers; invisible. */
void md_language(struct md *w);
const char *md_language_comment(enum report_lang lang);
/* lang: the fence's info word. Lines are kept, other control characters are not. */
void md_code_block(struct md *w, const char *lang, const char *text, size_t len);
void md_table(struct md *w, const struct table *t);
