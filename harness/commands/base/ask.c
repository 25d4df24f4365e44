#include "harness/commands/base/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ask_text(const struct asker *a, const char *question, const char *usual, char *out, struct err *err)
{
    snprintf(out, ANSWER_MAX, "%s", usual);
    if (!a->on)
        return 0;
    char answer[ANSWER_MAX];
    fprintf(stderr, *usual ? "%s [%s]: " : "%s%s: ", question, usual);
    if (!fgets(answer, sizeof answer, stdin) || *a->interrupted)
        return err_set(err, ERR_INTERRUPTED, "interrupted: nothing was written");
    answer[strcspn(answer, "\r\n")] = '\0';
    char *text = answer + strspn(answer, " \t");
    for (size_t n = strlen(text); n > 0 && strchr(" \t", text[n - 1]); n--)
        text[n - 1] = '\0';
    if (*text)
        snprintf(out, ANSWER_MAX, "%s", text);
    return 0;
}

int ask_yes(const struct asker *a, const char *question, bool usual, bool *out, struct err *err)
{
    char answer[ANSWER_MAX];
    for (;;) {
        if (ask_text(a, question, usual ? "Y/n" : "y/N", answer, err) != 0)
            return -1;
        *out = strcmp(answer, "Y/n") == 0 || *answer == 'y' || (*answer == 'Y' && !strchr(answer, '/'));
        if (strchr(answer, '/') || strchr("yYnN", *answer))
            return 0;
        fputs("Answer y or n.\n", stderr);
    }
}

int ask_number(const struct asker *a, const char *question, int usual, int most, int *out, struct err *err)
{
    char answer[ANSWER_MAX], number[16], *end;
    snprintf(number, sizeof number, "%d", usual);
    for (;;) {
        if (ask_text(a, question, number, answer, err) != 0)
            return -1;
        long n = strtol(answer, &end, 10);
        *out = (int)n;
        if (*end == '\0' && n >= 1 && n <= most)
            return 0;
        fprintf(stderr, "Answer with a number from 1 to %d.\n", most);
    }
}
