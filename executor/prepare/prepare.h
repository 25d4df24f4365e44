/* prepare: the steps between the choice of a run's GPUs and its first test, one file each: which tree a
 * variant's commands have as {src}, its build, what is recorded about the build, and its gates. Each sets the
 * state of the variant and writes its events.
 *
 * Unless it says otherwise, a function returns 0, and -1 only for faults of our own; those that decide return
 * 1, or 0 with a reason (char[REASON_MAX]).
 */
#pragma once

#include "common/contract/gate.h"
#include "executor/bundle/runlog.h"
#include "executor/code/target.h"
#include "executor/suite/suite.h"
#include "executor/workdir/seal.h"

#define RESOURCES_FILE "resources.json"

enum { OBJECTS_FILES_MAX = 4096 };

/* Makes or reuses the variant's build in <workdir>/build/<key>/, where the key covers the source, the
 * commands, their environment and the toolchain, so that an unchanged variant is not rebuilt and a stale
 * binary is never measured. A folder is valid only with ".complete" in it, a seal of its files
 * (workdir/seal.h), and with its copy of the sources. One run at a time builds: it holds the node's lock or,
 * in a scheduler's task, that of the build. */
int build_variant(struct suite *s, size_t variant, struct err *err);
/* Uses the build that another process of this run has made. */
int build_variant_use(struct suite *s, size_t variant, const char *key, struct err *err);

/* Checks the conditions that a variant must meet before it is measured; all its gates write to
 * <variant>/gate.log. The first failure rules the variant out. */
int gate_variant(struct suite *s, size_t variant, struct err *err);
/* Runs the variant's cleanup, once no test of the run is in flight; a failure is told. */
int gate_clean_up(struct suite *s, size_t variant, struct err *err);

/* Makes copies of the staged tree with a plan's patches applied, in <workdir>/patched/<key>/, where the key
 * covers the tree and the patches. The staged tree itself is never written. An existing copy is used only
 * when its patched files equal what patching the tree gives now. Each patch is recorded by a CONFIG_PATCH
 * event with the file's hash before and after it. One run at a time: the caller holds the node's lock.
 *
 * Sets {src} and the source key of every variant with patches. Returns 1 done; 0 a patch does not apply, and
 * reason says which. */
int patched_prepare(struct suite *s, char *reason, struct err *err);

/* These decide which tree a variant's commands have as {src}. A variant that is built has a copy of its own,
 * in <workdir>/tree/<build key>/, which its build may write to; when the build is done the copy is sealed,
 * and is kept and removed with the build. One that is not built has the staged tree, or its patched copy,
 * read-only. Variants with "in_tree" share one copy, which all may write to; nothing there is checked.
 *
 * sources_check() is called before anything is patched, and says whether the staged tree is as it was sent.
 * sources_share() is called after patching, and makes what "in_tree" variants share. */
int sources_check(struct suite *s, char *reason, struct err *err);
int sources_share(struct suite *s, struct err *err);
/* Sets {src} of a variant whose build is known. */
int sources_use(struct suite *s, size_t variant, struct err *err);
/* Makes the variant's own copy anew, writable. Returns 1; 0 told to end; -1. */
int sources_copy(struct suite *s, size_t variant, struct err *err);
/* Removes it after a build that failed. */
int sources_discard(struct suite *s, size_t variant, struct err *err);
/* Notes programs and objects that were sent and that the build found up to date. */
int sources_tell_prebuilt(struct suite *s, size_t variant, struct err *err);

/* Copies a whole tree on the node, by a child that can be stopped like any other, without using disk space
 * for it where the file system shares blocks between files. Returns 1 copied; 0 told to end; -1: it cannot be
 * copied, which no variant is to blame for. */
int copy_tree(struct suite *s, const char *from, const char *to, struct err *err);
/* Fails unless so many bytes, and what the run itself writes, have room on an existing folder's file system.
 */
int disk_check(const char *dir, uint64_t bytes, struct err *err);

/* Seals a finished build together with the copy of the sources that it was made in. */
int built_seal(struct suite *s, size_t variant, struct err *err);
/* Returns 1 as the build left them; 0 not (why: char[SEAL_REASON_MAX], "" where nothing was sealed); -1. */
int built_is_intact(const struct suite *s, size_t variant, char *why, struct err *err);
/* Finds what has changed in a variant's build and {src}, also of one without a build. Returns 1 nothing, 0
 * something, of which fn is told, -1.
 */
int built_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err);

/* Writes the code identity of a variant's build (executor/code/build_identity.h) to the bundle, as
 * <variant>/code.json (schemas/code.schema.json). It is kept beside the build, so that a cached one is not
 * hashed again and keeps it whatever its tests have written into its folder. With the plan's "listings", the
 * kernels' machine code is also written, as far as the node has a disassembler and the bound allows, to
 * <variant>/listings.txt: a line "== NAME GPU HASH" before each kernel. A kernel is listed completely or not
 * at all.
 *
 * To be called after a successful build, cached or not. A build with code for other GPUs than the node's only
 * has failed, in the variant's state. Files that cannot be hashed give an unknown identity with its reason,
 * not an error. So does a build without device code whose tests name files of the sources. */
int code_identity_take(struct suite *s, size_t variant, struct err *err);
/* Gives the GPUs of the node as code is compiled for them; none where they are not known, or are not to be
 * asked. */
void code_identity_gpus(const struct suite *s, size_t variant, struct targets *out);

/* Takes the resource usage of a variant's kernels, as its build reports it. A build may write
 * {build}/resources.json (`make -C kernels resources` does); it becomes <variant>/resources.json of the
 * bundle (schemas/resources.schema.json), and numeric gates are checked against it. It is foreign JSON: an
 * absent number is missing, never 0.
 *
 * To be called after a successful build, cached or not. A file that is not a JSON object fails the build, in
 * the variant's state. Without a file there is nothing to do. */
int kernel_usage_take(struct suite *s, size_t variant, struct err *err);
/* Finds the number that a gate checks: the worst of the kernels that its "kernel" matches has it, and *worst
 * is that kernel's borrowed name. resources: an object like resources.json; of: what to call it. Returns
 * false, with why, when there is none. */
bool kernel_usage_number(const json_t *resources, const struct gate *gate, const char *of, double *number,
                         const char **worst, char why[REASON_MAX]);

/* Reads the resources of the kernels in compiled files that a gate names, whoever built them, from the files
 * themselves (executor/code): no resources.json is needed. The files are untrusted; their number and sizes
 * are bounded.
 *
 * patterns: of paths, as the shell's; they are expanded with values first. gpus: whose code counts; none:
 * all. Returns an object like resources.json, the caller's; its LDS is the static one. Returns NULL with why
 * where no file matches, or one cannot be read; NULL with err (whose kind is ERR_NONE before) for what is not
 * the gate's fault. */
json_t *objects_read(const struct command *patterns, const struct subst *values, const struct targets *gpus,
                     char why[REASON_MAX], struct err *err);

/* One command of a build or gate, logged, with a time-out. */
struct step {
    const struct command *command;
    const struct subst *values;
    const char *cwd;
    double timeout_s;
    struct runlog *log;
    /* Also receives the output; may be NULL. */
    void (*output)(void *arg, const char *data, size_t len);
    void *arg;
};

/* Runs the command. wall_s may be NULL. A command that cannot even be expanded has failed, too. */
int step_run(struct suite *s, size_t variant, const struct step *step, struct assessment *out, double *wall_s,
             struct err *err);
