/* kernsweep sql 'SELECT ...': runs a read-only query. */
#include "common/base/text.h"
#include "harness/commands/base/cmd.h"
#include "results/store/query.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES_MAX = 16 << 20 };

static const double timeout_s = 60;

struct output {
    json_t *rows; /* with --json */
    FILE *file;   /* else */
    bool left;    /* the reader is gone, as with `| head` */
};

/* Prints tab-separated cells for people and cut(1), escaping whatever could act on a terminal. */
static int print_cells(FILE *file, const char *const *cells, size_t n, struct err *err)
{
    AUTO(buf_release) struct buf line = {.max = ROW_BYTES_MAX};
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(&line, '\t');
        if (cells[i])
            text_printable(&line, cells[i], strlen(cells[i]), ROW_BYTES_MAX / 8);
    }
    buf_putc(&line, '\n');
    if (!buf_ok(&line))
        return err_set(err, ERR_INTERNAL, "sql: a row exceeds %d bytes", ROW_BYTES_MAX);
    fwrite(buf_str(&line), 1, line.len, file);
    return 0;
}

static int print_header(void *arg, const struct query_row *row, struct err *err)
{
    const struct output *out = arg;
    return print_cells(out->file, row->names, row->columns, err);
}

static int print_row(void *arg, const struct query_row *row, struct err *err)
{
    struct output *out = arg;
    if (print_cells(out->file, row->values, row->columns, err) != 0)
        return -1;
    out->left = ferror(out->file) != 0;
    return out->left ? err_set(err, ERR_STORAGE, "sql: the rows cannot be written") : 0;
}

/* A JSON object holds one value per name, so columns of the same name would be lost. */
static int check_names(void *arg, const struct query_row *row, struct err *err)
{
    (void)arg;
    for (size_t i = 0; i < row->columns; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(row->names[i], row->names[k]) == 0)
                return err_set(err, ERR_INPUT,
                               "sql: --json: two columns are called \"%.80s\": rename one with AS",
                               row->names[i]);
    return 0;
}

static json_t *json_of_text(const char *value)
{
    AUTO(buf_release) struct buf text = {.max = ROW_BYTES_MAX};
    if (text_is_utf8(value, strlen(value)))
        return json_string(value);
    text_printable(&text, value, strlen(value), ROW_BYTES_MAX / 8);
    json_t *string = json_string(buf_str(&text));
    return string;
}

static json_t *json_of(const char *value, int type)
{
    if (!value)
        return json_null();
    if (type == SQLITE_INTEGER)
        return json_integer(strtoll(value, NULL, 10));
    return type == SQLITE_FLOAT ? cmd_json_number(strtod(value, NULL)) : json_of_text(value);
}

static int keep_row(void *arg, const struct query_row *row, struct err *err)
{
    (void)err;
    struct output *out = arg;
    json_t *object = json_object();
    for (size_t i = 0; i < row->columns; i++)
        json_object_set_new(object, row->names[i], json_of(row->values[i], row->types[i]));
    json_array_append_new(out->rows, object);
    return 0;
}

static int sql(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    AUTO(store_close) struct store s = {0};
    json_auto_t *rows = json_array();
    struct output out = {.rows = rows};
    if (cmd_store_open(env, &s, STORE_READ, err) != 0)
        return -1;
    if (env->json)
        return query_run(&s, words->v[0], timeout_s, check_names, keep_row, &out, err) != 0
                   ? -1
                   : cmd_print_json(json_incref(rows));
    out.file = cmd_output_begin(&s);
    int rc = query_run(&s, words->v[0], timeout_s, print_header, print_row, &out, err);
    bool left = out.left && out.file == stdout;
    bool printed = cmd_output_end(out.file, &s) == 0;
    if (left)
        return EXIT_DONE;
    return rc != 0 || printed || errno == EPIPE ? rc : err_set_errno(err, ERR_STORAGE, errno, "sql");
}

const struct cmd cmd_sql = {
    .name = "sql",
    .summary = "query the store in SQL",
    .usage = "'SELECT ...'",
    .about = "Runs one read-only SQL query on the store.",
    .min_words = 1,
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = sql,
};
