/* tool: runs a vendor's program that changes a setting, as root itself or through "sudo -n".
 */
#ifndef KERNSWEEP_EXECUTOR_CLOCKS_TOOL_H
#define KERNSWEEP_EXECUTOR_CLOCKS_TOOL_H

#include "executor/clocks/control.h"

enum { TOOL_WORDS_MAX = 12, TOOL_WORD_MAX = 48 };

/* The program's arguments; an empty word ends them. */
struct tool_words {
    char word[TOOL_WORDS_MAX][TOOL_WORD_MAX];
};

/* Whether the program is in PATH or in ROCm's folder. path (may be NULL): char[FS_PATH_MAX] */
bool tool_find(const char *name, char *path);
enum control_result tool_run(const char *name, const struct tool_words *words, struct err *err);

#endif
