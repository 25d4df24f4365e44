#include "common/base/args.h"

#include "common/base/text.h"

#include <string.h>

/* spec: "-v,--verbose" */
static bool is_name(const char *spec, const char *word, size_t len)
{
    while (*spec) {
        size_t n = strcspn(spec, ",");
        if (n == len && strncmp(spec, word, len) == 0)
            return true;
        spec += n + (spec[n] == ',');
    }
    return false;
}

static bool has_common(const struct args *a, size_t i)
{
    return !(a->without >> i & 1);
}

/* into: what the option fills. */
static const struct arg *find_option(const struct args *a, const char *word, size_t len, void **into)
{
    *into = a->into;
    for (size_t i = 0; i < a->own.n; i++)
        if (is_name(a->own.v[i].name, word, len))
            return &a->own.v[i];
    *into = a->common_into;
    for (size_t i = 0; i < a->common.n; i++)
        if (is_name(a->common.v[i].name, word, len) && has_common(a, i))
            return &a->common.v[i];
    return NULL;
}

enum { OPTIONS_MAX = 64 };

/* Returns the last name of "-v,--verbose", without its dashes, which would make any two options alike. */
static const char *long_name(const char *spec)
{
    const char *comma = strrchr(spec, ',');
    const char *name = comma ? comma + 1 : spec;
    return name + strspn(name, "-");
}

static int unknown_option(const struct args *a, const char *word, size_t len, struct err *err)
{
    const char *known[OPTIONS_MAX];
    char name[64];
    size_t n = 0;
    size_t dashes = strspn(word, "-");
    size_t rest = len > dashes ? len - dashes : 0;
    snprintf(name, sizeof name, "%.*s", (int)(rest < sizeof name ? rest : sizeof name - 1), word + dashes);
    for (size_t i = 0; i < a->own.n && n < OPTIONS_MAX; i++)
        known[n++] = long_name(a->own.v[i].name);
    for (size_t i = 0; i < a->common.n && n < OPTIONS_MAX; i++)
        if (has_common(a, i))
            known[n++] = long_name(a->common.v[i].name);
    const char *meant = text_nearest(name, known, n);
    return err_set(err, ERR_INPUT, "%s: unknown option %.100s%s%s%s (%s %s --help lists them)", a->command,
                   word, meant ? ": did you mean --" : "", meant ? meant : "", meant ? "?" : "", a->program,
                   a->command);
}

/* Whether what follows an option cannot be its value. */
static bool is_option(const struct args *a, const char *word)
{
    void *into;
    return find_option(a, word, strcspn(word, "="), &into);
}

/* Its value may be in the same word or in the next one. */
static int parse_option(const struct args *a, int argc, char **argv, int *i, struct err *err)
{
    void *into;
    const char *word = argv[*i];
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    const struct arg *option = find_option(a, word, len, &into);
    if (!option)
        return unknown_option(a, word, len, err);
    if (option->at.flag && value)
        return err_set(err, ERR_INPUT, "%s: %.*s takes no value", a->command, (int)len, word);
    void *at = (char *)into + option->at.offset;
    if (option->at.flag) {
        *(bool *)at = true;
        return 0;
    }
    if (!value && (*i + 1 >= argc || is_option(a, argv[*i + 1])))
        return err_set(err, ERR_INPUT, "%s: %s needs a value: %s", a->command, word, option->value);
    *(const char **)at = value ? value : argv[++*i];
    return 0;
}

int args_parse(const struct args *a, int argc, char **argv, const char **words, size_t *n, struct err *err)
{
    bool options = true;
    *n = 0;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(a, argc, argv, &i, err) != 0)
                return -1;
        } else if (*n == a->max_words) {
            return err_set(err, ERR_INPUT, "%s: unexpected \"%.100s\": usage: %s %s %s", a->command, argv[i],
                           a->program, a->command, a->usage);
        } else {
            words[(*n)++] = argv[i];
        }
    }
    if (*n < a->min_words)
        return err_set(err, ERR_INPUT, "%s: usage: %s %s %s", a->command, a->program, a->command, a->usage);
    return 0;
}

enum { HELP_COLUMNS = 100, HELP_TEXT = 31, HELP_USAGE = 11 };

/* Writes words behind what has taken `at` columns of the line, and breaks lines between them. */
static void help_text(const char *text, size_t at, int indent, FILE *out)
{
    bool begun = false;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " \n"), gap = begun ? 1 : 0;
        if (begun && at + gap + len > HELP_COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            at = (size_t)indent;
            gap = 0;
        }
        fprintf(out, "%s%.*s", gap ? " " : "", (int)len, word);
        at += gap + len;
        begun = true;
        word += len;
        if (*word == '\n') {
            fputc('\n', out);
            at = 0;
            begun = false;
        }
        word += *word != '\0';
    }
    fputc('\n', out);
}

static void help_option(const struct arg *option, FILE *out)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    int at = fprintf(out, "  %-28s ", left);
    help_text(option->help, at > 0 ? (size_t)at : 0, HELP_TEXT, out);
}

void args_help_options(const struct arg_table *options, FILE *out)
{
    for (size_t i = 0; i < options->n; i++)
        help_option(&options->v[i], out);
}

void args_help(const struct args *a, FILE *out)
{
    int at = fprintf(out, "usage: %s %s ", a->program, a->command);
    help_text(a->usage, at > 0 ? (size_t)at : 0, HELP_USAGE, out);
    fputc('\n', out);
    help_text(a->about, 0, 0, out);
    fputc('\n', out);
    args_help_options(&a->own, out);
    for (size_t i = 0; i < a->common.n; i++)
        if (!((a->without | a->unlisted) >> i & 1))
            help_option(&a->common.v[i], out);
}
