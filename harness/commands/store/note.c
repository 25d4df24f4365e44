/* kernsweep note [RUN|TICKET]: keeps what a person has to say about a run or a ticket, for reports. */
#include "results/store/note.h"
#include "common/base/spawn.h"
#include "common/base/temporary.h"
#include "common/base/text.h"
#include "harness/commands/base/cmd.h"
#include "reports/tables/tables.h"
#include "results/query/find_run.h"
#include "results/store/run_load.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct note_args {
    const char *file, *lang, *section, *by;
    bool remove;
};

/* The note that is meant, without its text. any_section, any_lang: neither was named. */
struct meant {
    struct note note;
    bool any_section, any_lang;
};

static int check_author(const char *who, struct err *err)
{
    bool plain = text_is_utf8(who, strlen(who));
    for (const char *c = who; *c; c++)
        plain = plain && (unsigned char)*c >= ' ' && *c != 0x7f;
    if (plain && *who && strlen(who) < RUN_NAME_MAX)
        return 0;
    return err_set(err, ERR_INPUT, "--by: expected one line of text, of up to %d bytes", RUN_NAME_MAX - 1);
}

static int read_args(const struct note_args *a, size_t n_words, struct meant *m, struct err *err)
{
    const struct passwd *pw = a->by ? NULL : getpwuid(getuid());
    const char *who = a->by ? a->by : pw ? pw->pw_name : "", *lang = a->lang ? a->lang : "en";
    *m = (struct meant){
        .note.section = NOTE_REMARKS, .any_section = a->section == NULL, .any_lang = a->lang == NULL};
    if (n_words == 0 && (a->file || a->section || a->lang || a->by || a->remove))
        return err_set(err, ERR_INPUT, "note: name a run or a ticket; without one, it lists the notes");
    if (a->remove && (a->file || a->by))
        return err_set(err, ERR_INPUT, "note: --remove can be combined only with --section and --lang");
    if (a->section && !note_section_from_name(a->section, &m->note.section))
        return err_set(err, ERR_INPUT,
                       "--section: expected findings, hypotheses, rejected, decision, next or remarks, found "
                       "\"%.40s\"",
                       a->section);
    if (strcmp(lang, "en") != 0 && strcmp(lang, "es") != 0)
        return err_set(err, ERR_INPUT, "--lang: expected en or es, found \"%.40s\"", lang);
    if (n_words > 0 && !a->remove && check_author(who, err) != 0)
        return -1;
    snprintf(m->note.lang, sizeof m->note.lang, "%s", lang);
    snprintf(m->note.who, sizeof m->note.who, "%s", who);
    return 0;
}

/* A ticket's name means the ticket; everything else is a run. */
static int find_subject(struct store *s, const char *word, struct note *out, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    int is_ticket = strcmp(word, "latest") == 0 ? 0 : store_find_ticket(s, word, err);
    if (is_ticket < 0 || (!is_ticket && store_load_run(s, word, &run, err) != 0))
        return -1;
    snprintf(out->ticket, sizeof out->ticket, "%s", is_ticket ? word : run.info.ticket);
    snprintf(out->run_id, sizeof out->run_id, "%s", run.info.run_id);
    return 0;
}

/* Takes the text as it is, but for blanks at its end. */
static int check_text(const char *from, struct buf *text, struct err *err)
{
    size_t line = 1;
    if (strlen(buf_str(text)) != text->len || !text_is_utf8(buf_str(text), text->len))
        return err_set(err, ERR_INPUT, "%.400s: is not UTF-8 text", from);
    for (const char *c = buf_str(text); *c; c++) {
        line += *c == '\n';
        if (((unsigned char)*c < ' ' && !strchr("\n\t\r", *c)) || *c == 0x7f)
            return err_set(err, ERR_INPUT, "%.400s: line %zu has a control character", from, line);
    }
    while (text->len > 0 && strchr(" \t\r\n", text->data[text->len - 1]))
        text->data[--text->len] = '\0';
    return text->len > 0 ? 0 : err_set(err, ERR_INPUT, "%.400s: has no text: nothing was changed", from);
}

static int read_standard_input(struct buf *text, struct err *err)
{
    char piece[4096];
    ssize_t n;
    while ((n = read(STDIN_FILENO, piece, sizeof piece)) > 0 && buf_ok(text))
        buf_add(text, piece, (size_t)n);
    if (n < 0)
        return err_set_errno(err, ERR_INPUT, errno, "standard input");
    return buf_ok(text)
               ? 0
               : err_set(err, ERR_INPUT, "standard input: larger than the limit of %zu bytes", text->max);
}

static int read_text(const char *file, struct buf *text, struct err *err)
{
    bool standard = strcmp(file, "-") == 0;
    if ((standard ? read_standard_input(text, err) : fs_read_file(file, text->max, text, err)) != 0)
        return -1;
    return check_text(standard ? "standard input" : file, text, err);
}

static const char *editor_of_user(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* The editor may be a command with options, so the shell runs it. */
static int run_editor(const char *path, struct err *err)
{
    const char *editor = editor_of_user();
    const char *argv[] = {"sh", "-c", "eval \"$1 \\\"\\$2\\\"\"", "sh", editor, path, NULL};
    struct spawn s = {
        .argv = argv, .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}, .keep_terminal = true};
    int status = -1;
    pid_t pid = spawn_start(&s, err);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set_errno(err, ERR_INTERNAL, errno, "cannot wait for the editor");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : err_set(err, ERR_INPUT, "the editor (%.200s) failed: nothing was changed", editor);
}

/* Opens the editor on the note as it is stored, if it is. */
static int edit_text(struct store *s, const struct note *n, struct buf *text, struct err *err)
{
    AUTO(notes_release) struct notes stored = {0};
    AUTO(temporary_release) struct temporary file = {.fd = -1};
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    const char *before = "";
    if (notes_load(s, n->ticket, n->run_id, &stored, err) != 0 ||
        fs_cache_folder("notes", folder, err) != 0 || fs_join(path, err, folder, "note.md") != 0 ||
        temporary_file(&file, path, 0600, err) != 0)
        return -1;
    for (size_t i = 0; i < stored.count; i++)
        if (stored.items[i].section == n->section && strcmp(stored.items[i].lang, n->lang) == 0)
            before = stored.items[i].text;
    if (fs_write_all(file.fd, before, strlen(before)) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%.400s", file.path);
    return run_editor(file.path, err) != 0 ? -1 : read_text(file.path, text, err);
}

static int save(const struct cmd_env *env, struct store *s, const struct note_args *a, struct note *n,
                struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = NOTE_BYTES_MAX};
    if (!a->file && !isatty(STDIN_FILENO))
        return err_set(err, ERR_INPUT,
                       "note: standard input is no terminal for an editor: give the text with --file FILE (- "
                       "is standard input)");
    if ((a->file ? read_text(a->file, &text, err) : edit_text(s, n, &text, err)) != 0)
        return -1;
    n->text = text.data;
    if (note_save(s, n, err) != 0)
        return -1;
    fprintf(env->notes, "noted: %s %s, %s, %s, by %s\n", *n->run_id ? "run" : "ticket",
            *n->run_id ? n->run_id : n->ticket, note_section_name(n->section), n->lang, n->who);
    return EXIT_DONE;
}

static int drop(const struct cmd_env *env, struct store *s, const struct meant *m, struct err *err)
{
    const struct note *n = &m->note;
    const char *subject = *n->run_id ? n->run_id : n->ticket;
    int dropped = 0;
    if (notes_drop(s, n->ticket, n->run_id, m->any_section ? NOTE_SECTION_COUNT : n->section,
                   m->any_lang ? NULL : n->lang, &dropped, err) != 0)
        return -1;
    if (dropped == 0)
        return err_set(err, ERR_INPUT, "note: %s has no such note: `kernsweep note` lists them", subject);
    fprintf(env->notes, "%d note%s of %s removed\n", dropped, text_plural(dropped), subject);
    return EXIT_DONE;
}

static void print_note(const struct note *n)
{
    AUTO(buf_release) struct buf line = {.max = 4096};
    const char *text = n->text + strspn(n->text, " \t\r\n");
    size_t len = strcspn(text, "\r\n");
    text_printable(&line, text, len, len);
    printf("%s  %s %s, by %s on %s: %s\n", *n->run_id ? n->run_id : n->ticket, note_section_name(n->section),
           n->lang, n->who, num_date(n->noted_at).s, buf_str(&line));
}

static int list_all(const struct cmd_env *env, struct store *s, struct err *err)
{
    AUTO(notes_release) struct notes all = {0};
    json_auto_t *list = json_array();
    if (notes_load(s, NULL, NULL, &all, err) != 0)
        return -1;
    for (size_t i = 0; i < all.count; i++) {
        const struct note *n = &all.items[i];
        if (env->json)
            json_array_append_new(list, json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s, s:s}", "ticket", n->ticket,
                                                  "run_id", *n->run_id ? n->run_id : NULL, "section",
                                                  note_section_name(n->section), "lang", n->lang, "by",
                                                  n->who, "date", num_date(n->noted_at).s, "text", n->text));
        else
            print_note(n);
    }
    return env->json ? cmd_print_json(json_incref(list)) : EXIT_DONE;
}

static int run_note(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct note_args *a = args;
    AUTO(store_close) struct store s = {0};
    struct meant m;
    if (read_args(a, words->n, &m, err) != 0)
        return -1;
    if (words->n && env->json)
        return err_set(err, ERR_INPUT, "note: --json is for the list, which takes no run");
    if (cmd_store_open(env, &s, words->n ? STORE_CHANGE : STORE_READ, err) != 0)
        return -1;
    if (words->n == 0)
        return list_all(env, &s, err);
    if (find_subject(&s, words->v[0], &m.note, err) != 0)
        return -1;
    return a->remove ? drop(env, &s, &m, err) : save(env, &s, a, &m.note, err);
}

#define AT(member) ARG_AT(struct note_args, member)

static const struct arg options[] = {
    {"--file", "FILE", AT(file), "the text; - is standard input (default: an editor)"},
    {"--section", "NAME", AT(section), "findings, hypotheses, rejected, decision, next or remarks (default)"},
    {"--lang", "LANG", AT(lang), "the language that it is written in: en (default) or es"},
    {"--by", "NAME", AT(by), "who wrote it (default: the user of this account)"},
    {"--remove", NULL, AT(remove), "remove the notes, of all sections and languages unless they are named"},
};

const struct cmd cmd_note = {
    .name = "note",
    .summary = "write down findings and decisions about a run or ticket",
    .usage = "[RUN|TICKET [options]]",
    .about =
        "Keeps a text about a run, or about a ticket, for reports and exports; no verdict depends on it. "
        "Without --file, $VISUAL or $EDITOR opens. A note replaces the one of the same section and "
        "language. Without a run or ticket, lists the notes.",
    .options = ARG_TABLE(struct note_args, options),
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_note,
};
