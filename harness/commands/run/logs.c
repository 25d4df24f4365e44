/* kernsweep logs: the output of one test, or of a build or a gate, from a bundle or from the node. */
#include "common/base/text.h"
#include "harness/commands/base/on_node.h"
#include "harness/session/run_files.h"
#include "results/query/find_run.h"
#include "results/store/run_folder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES_MAX = 256 << 20, WORDS_MAX = 4, LOOKS_MAX = 5 };
static const int poll_ms = 1000;

struct logs_args {
    struct attach_args at;
    bool diag, build, gate, follow;
};

struct logs {
    struct cmd_env *env;
    const struct logs_args *args;
    struct run_log_query query;
    struct run_place place;
    struct session session; /* for a live run */
    char run_id[128];       /* or the bundle's folder */
    char bundle[FS_PATH_MAX];
    char repetition[32];
};

static int choose_log(struct logs *l, const char **words, size_t n, struct err *err)
{
    const struct logs_args *a = l->args;
    if (a->diag + a->build + a->gate > 1)
        return err_set(err, ERR_INPUT, "logs: give one of --diag, --build and --gate");
    if ((a->build || a->gate) && n > 2)
        return err_set(err, ERR_INPUT, "logs: --%s concerns a whole variant: leave out \"%.40s\"",
                       a->build ? "build" : "gate", words[2]);
    l->query = (struct run_log_query){.log = a->diag    ? RUN_LOG_DIAG
                                             : a->build ? RUN_LOG_BUILD
                                             : a->gate  ? RUN_LOG_GATE
                                                        : RUN_LOG_OUTPUT,
                                      .variant = words[1],
                                      .context = n > 2 ? words[2] : NULL,
                                      .repetition = n > 3 ? words[3] : NULL};
    return 0;
}

static int use_bundle(struct logs *l, const char *dir, const char *run)
{
    snprintf(l->bundle, sizeof l->bundle, "%s", dir);
    snprintf(l->run_id, sizeof l->run_id, "%s", run);
    l->place = (struct run_place){.bundle = l->bundle};
    return 0;
}

static int use_bundle_of(struct logs *l, const char *dir, const char *run, struct err *err)
{
    if (run_folder_may_be_of(dir, run))
        return use_bundle(l, dir, run);
    if (*dir && access(dir, R_OK | X_OK) != 0 && errno == EACCES)
        return err_set(err, ERR_INPUT,
                       "the bundle of run %.100s, %.400s, is not readable for this user: ask its owner for "
                       "it, and name the folder of the copy",
                       run, dir);
    return err_set(err, ERR_INPUT,
                   "the bundle of run %.100s is no longer in %.400s%s: the store keeps numbers, not logs; if "
                   "the bundle was moved, name its folder",
                   run, *dir ? dir : "any folder",
                   run_folder_was_reused(dir, run) ? ", which has another run's" : "");
}

static int use_stored(struct logs *l, const char *word, struct err *err)
{
    AUTO(store_close) struct store s = {0};
    AUTO(run_data_release) struct run_data run = {0};
    if (cmd_store_open(l->env, &s, STORE_READ, err) != 0 || store_load_run(&s, word, &run, err) != 0)
        return -1;
    return use_bundle_of(l, run.info.bundle, run.info.run_id, err);
}

static int use_node(struct logs *l, const char *word, struct err *err)
{
    if (attach_open(l->env, &l->args->at, word, &l->session, err) != 0)
        return -1;
    l->place = (struct run_place){.remote = &l->session.remote, .run_id = l->session.rec.run_id};
    snprintf(l->run_id, sizeof l->run_id, "%s", l->session.rec.run_id);
    return 0;
}

/* A run that has not been fetched yet is read on its node, any other from its bundle. */
static int find_place(struct logs *l, const char *word, struct err *err)
{
    struct runrec rec;
    struct err ignored = {0};
    if (fs_is_dir(word))
        return use_bundle(l, word, word);
    bool known = runrec_find(&rec, l->env->db, word, &ignored) == 0;
    if (l->args->at.node || (known && rec.state < RUNREC_PULLED))
        return use_node(l, word, err);
    if (known && strncmp(rec.run_id, word, strlen(word)) == 0) /* the store knows rejected runs */
        return use_bundle_of(l, rec.bundle, rec.run_id, err);
    return use_stored(l, word, err);
}

/* Programs may print anything, but a terminal must only get printable text. */
static void print_log(const struct buf *text)
{
    if (!isatty(STDOUT_FILENO)) {
        cmd_print(text);
        return;
    }
    AUTO(buf_release) struct buf line = {.max = LOG_BYTES_MAX};
    const char *p = buf_str(text), *end = p + text->len;
    while (p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != '\n' && p[n] != '\t')
            n++;
        buf_clear(&line);
        text_printable(&line, p, n, n);
        if (p + n < end)
            buf_putc(&line, p[n]);
        cmd_print(&line);
        p += n + 1;
    }
}

/* Explains more, as "latest" may not be the intended run and a live run's test may not have begun. */
static int no_log(const struct logs *l, struct err *err)
{
    struct err why = *err;
    if (!l->place.remote)
        return err_wrap(err, "run %s", l->run_id);
    return err_set(err, why.kind,
                   "run %s: %s; a build or test has a log once it has begun: see `kernsweep watch %s`",
                   l->run_id, why.msg, l->run_id);
}

static int choose_file(struct logs *l, struct run_log_choice *choice, struct err *err)
{
    AUTO(strvec_release) struct strvec paths = {0};
    if (run_files_list(&l->place, &paths, err) != 0)
        return -1;
    return run_files_choose(&paths, &l->query, choice, err) != 0 ? no_log(l, err) : 0;
}

static int print_from(struct logs *l, const char *path, size_t *offset, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LOG_BYTES_MAX};
    if (run_files_read(&l->place, path, *offset, &text, err) != 0)
        return -1;
    print_log(&text);
    *offset += text.len;
    return 0;
}

static void print_heading(const struct logs *l, const struct run_log_choice *choice)
{
    fprintf(l->env->notes, "%s%s", choice->path, choice->growing ? " (still being written)" : "");
    if (choice->repetitions > 1)
        fprintf(l->env->notes, " (repetition %ld of %ld)", choice->repetition, choice->repetitions);
    fputc('\n', l->env->notes);
}

/* A log gets its final name when its test ends, which may be between choosing and reading the file. */
static int print_more(struct logs *l, struct run_log_choice *choice, size_t *offset, struct err *err)
{
    for (int look = 1;; look++) {
        int rc = print_from(l, choice->path, offset, err);
        if (rc == 0 || !choice->growing || look == LOOKS_MAX)
            return rc;
        if (choose_file(l, choice, err) != 0)
            return -1;
    }
}

static int follow_log(struct logs *l, struct run_log_choice *choice, size_t *offset, struct err *err)
{
    while (choice->growing && !*l->env->interrupted && !cmd_reader_left()) {
        poll(NULL, 0, poll_ms);
        if (choose_file(l, choice, err) != 0 || print_more(l, choice, offset, err) != 0)
            return -1;
    }
    return *l->env->interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int show_log(struct logs *l, struct err *err)
{
    struct run_log_choice choice;
    size_t offset = 0;
    if (choose_file(l, &choice, err) != 0)
        return -1;
    print_heading(l, &choice);
    snprintf(l->repetition, sizeof l->repetition, "%ld", choice.repetition);
    if (choice.repetition)
        l->query.repetition = l->repetition; /* follow the same repetition */
    if (print_more(l, &choice, &offset, err) != 0)
        return -1;
    return l->args->follow ? follow_log(l, &choice, &offset, err) : EXIT_DONE;
}

static void release(struct logs *l)
{
    session_close(&l->session);
}

static int logs(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    AUTO(release) struct logs l = {.env = env, .args = args};
    return choose_log(&l, words->v, words->n, err) != 0 || find_place(&l, words->v[0], err) != 0
               ? -1
               : show_log(&l, err);
}

#define AT(member) ARG_AT(struct logs_args, member)

static const struct arg options[] = {
    {"--diag", NULL, AT(diag), "diag.txt: the evidence of a test that was not OK"},
    {"--build", NULL, AT(build), "the log of the variant's build"},
    {"--gate", NULL, AT(gate), "the log of the variant's gates"},
    {"--follow", NULL, AT(follow), "print what a live test writes until it ends"},
    ATTACH_OPTIONS(struct logs_args, at.),
};

const struct cmd cmd_logs = {
    .name = "logs",
    .summary = "print the output of a test, or the log of a build or gate",
    .usage = "RUN VARIANT [CONTEXT [REPETITION]]",
    .about = "Prints the output of one test: from the bundle, or from the node while the run is live. "
             "Without REPETITION, the first that was not OK, otherwise the first.",
    .options = ARG_TABLE(struct logs_args, options),
    .min_words = 2,
    .max_words = WORDS_MAX,
    .without = CMD_JSON,
    .run = logs,
};
