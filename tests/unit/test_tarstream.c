/* tarstream: equal trees give equal bytes; hostile streams are rejected. */
#include "tests/unit/support.h"

#include "harness/transport/tarstream.h"

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "harness/transport/child.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

enum { STREAM_MAX = 64 << 20 };

static void put_with(const char *name, const char *text, mode_t mode)
{
    struct err err = {0};
    assert_int_equal(fs_write_file(in_scratch(name), text, strlen(text), mode, &err), 0);
    assert_int_equal(chmod(in_scratch(name), mode), 0);
}

static void written_at(const char *name, time_t written)
{
    const struct timespec times[] = {{.tv_sec = written}, {.tv_sec = written}};
    assert_int_equal(utimensat(AT_FDCWD, in_scratch(name), times, 0), 0);
}

static void make_tree(const char *root)
{
    struct err err = {0};
    char name[200];
    const char *const folders[] = {"src/deep", "build", ".git", "empty"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s/%s", root, folders[i]);
        assert_int_equal(fs_mkdir_p(in_scratch(name), 0700, &err), 0);
    }
    const struct {
        const char *name, *text;
        mode_t mode;
    } files[] = {{"src/a.c", "int a;\n", 0600},    {"src/run.sh", "#!/bin/sh\n", 0700},
                 {"src/deep/b.h", "", 0640},       {"src-more", "sorts between\n", 0644},
                 {"build/junk.o", "junk", 0644},   {".git/config", "x", 0644},
                 {"name with spaces", "s\n", 0444}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", root, files[i].name);
        put_with(name, files[i].text, files[i].mode);
        written_at(name, 2000 + (time_t)i); /* the clock of files may not tick between any two */
    }
}

static int read_all(const struct tar_tree *tree, size_t cap, struct buf *out, struct err *err)
{
    struct tar_writer *w;
    buf_init(out, STREAM_MAX);
    if (tar_writer_open(&w, tree, err))
        return -1;
    char *data = malloc(cap);
    ssize_t n;
    while ((n = tar_writer_read(w, data, cap, err)) > 0)
        buf_add(out, data, (size_t)n);
    free(data);
    tar_writer_close(w);
    return n < 0 ? -1 : 0;
}

TEST(the_same_tree_gives_the_same_bytes)
{
    struct err err = {0};
    make_tree("one");
    make_tree("two");
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    utimensat(AT_FDCWD, in_scratch("two/src/a.c"), long_ago, 0);
    chmod(in_scratch("two/src/a.c"), 0666);
    const char *const skip[] = {"build", NULL};
    struct tar_tree one = {.root = in_scratch("one"), .skip = skip},
                    two = {.root = in_scratch("two/."), .skip = skip};
    struct buf a, b;
    assert_int_equal(read_all(&one, 7, &a, &err), 0);
    assert_int_equal(read_all(&two, 100000, &b, &err), 0);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    char hex[SHA256_HEX_LEN + 1], of_bytes[SHA256_HEX_LEN + 1];
    uint64_t size;
    assert_int_equal(tar_tree_hash(&one, hex, &size, &err), 0);
    sha256_of(a.data, a.len, of_bytes);
    assert_string_equal(hex, of_bytes);
    assert_int_equal(size, a.len);
    chmod(in_scratch("two/src/a.c"), 0700);
    assert_int_equal(tar_tree_hash(&two, of_bytes, NULL, &err), 0);
    assert_string_not_equal(hex, of_bytes);
    buf_release(&a);
    buf_release(&b);
}

/* The names that `tar` lists, one per line. */
static void list_with_tar(const struct buf *stream, struct buf *names)
{
    static const char *const argv[] = {"tar", "-tf", "-", NULL};
    const struct transport_scope scope = {.who = "tar"};
    const struct transport_cmd cmd = {.argv = argv,
                                      .input = stream->data,
                                      .input_len = stream->len,
                                      .on_stdout = transport_collect,
                                      .on_stdout_arg = names,
                                      .deadline_s = 60};
    struct transport_result res;
    struct err err = {0};
    buf_init(names, 10000);
    assert_int_equal(transport_child_run(&cmd, NULL, &scope, &res, &err), 0);
    assert_true(res.exited);
    assert_int_equal(res.exit_code, 0);
}

TEST(folders_are_chosen_sorted_and_skipped)
{
    struct err err = {0};
    struct buf stream, names;
    make_tree("three");
    assert_int_equal(symlink("a.c", in_scratch("three/src/link.c")), 0);
    const char *const skip[] = {"build", "empty", NULL};
    struct tar_tree tree = {.root = in_scratch("three"), .skip = skip};
    assert_int_equal(read_all(&tree, 4096, &stream, &err), 0);
    list_with_tar(&stream, &names);
    assert_string_equal(buf_str(&names),
                        "name with spaces\nsrc-more\nsrc/a.c\nsrc/deep/b.h\nsrc/link.c\nsrc/run.sh\n");
    buf_release(&names);
    buf_release(&stream);
    const char *const include[] = {"src/deep", "src/a.c", "src/deep/b.h", NULL};
    tree.include = include;
    assert_int_equal(read_all(&tree, 4096, &stream, &err), 0);
    list_with_tar(&stream, &names);
    assert_string_equal(buf_str(&names), "src/a.c\nsrc/deep/b.h\n");
    buf_release(&names);
    buf_release(&stream);
}

/* A descriptor of an open store would drop its locks when it is closed. */
TEST(a_store_in_the_tree_is_not_sent)
{
    struct err err = {0};
    AUTO(buf_release) struct buf stream = {0}, names = {0};
    make_tree("stored");
    put_with("stored/src/results.db", "", 0600);
    put_with("stored/src/results.db-wal", "", 0600);
    assert_int_equal(symlink(in_scratch("stored/src/results.db"), in_scratch("link.db")), 0);
    const char *const include[] = {"src/results.db", "src/a.c", NULL};
    const struct tar_tree tree = {
        .root = in_scratch("stored"), .include = include, .store = in_scratch("link.db")};
    assert_int_equal(read_all(&tree, 4096, &stream, &err), 0);
    list_with_tar(&stream, &names);
    assert_string_equal(buf_str(&names), "src/a.c\n");
}

static void put_at(const char *name, time_t written)
{
    put_with(name, name, 0600);
    written_at(name, written);
}

static void hash_of(const struct tar_tree *tree, char *hex)
{
    struct err err = {0};
    assert_ok(tar_tree_hash(tree, hex, NULL, &err), &err);
}

static time_t time_of(const struct tar_tree *tree, const char *name)
{
    struct err err = {0};
    struct buf stream;
    struct archive_entry *e;
    time_t at = -1;
    assert_ok(read_all(tree, 4096, &stream, &err), &err);
    struct archive *a = archive_read_new();
    archive_read_support_format_tar(a);
    assert_int_equal(archive_read_open_memory(a, stream.data, stream.len), ARCHIVE_OK);
    while (archive_read_next_header(a, &e) == ARCHIVE_OK)
        if (strcmp(archive_entry_pathname(e), name) == 0)
            at = archive_entry_mtime(e);
    archive_read_free(a);
    buf_release(&stream);
    return at;
}

TEST(times_keep_their_order)
{
    struct err err = {0};
    char before[SHA256_HEX_LEN + 1], after[SHA256_HEX_LEN + 1];
    assert_ok(fs_mkdir_p(in_scratch("times"), 0700, &err), &err);
    put_at("times/prog", 1000);
    put_at("times/a.c", 2000);
    put_at("times/b.c", 2000);
    put_at("times/c.c", 3000);
    struct tar_tree tree = {.root = in_scratch("times")};
    assert_int_equal(time_of(&tree, "prog"), 0);
    assert_int_equal(time_of(&tree, "a.c"), 1);
    assert_int_equal(time_of(&tree, "b.c"), 1);
    assert_int_equal(time_of(&tree, "c.c"), 2);
    hash_of(&tree, before);
    put_at("times/c.c", 4000);
    hash_of(&tree, after);
    assert_string_equal(before, after);
}

/* A checkout writes its files in any order. */
TEST(times_of_settled_files_mean_nothing_among_themselves)
{
    struct err err = {0};
    char before[SHA256_HEX_LEN + 1], after[SHA256_HEX_LEN + 1];
    const char *const none[] = {NULL}, *const loose[] = {"prog", NULL},
                      *const settled[] = {"a.c", "b.c", NULL};
    assert_ok(fs_mkdir_p(in_scratch("checkout"), 0700, &err), &err);
    put_at("checkout/prog", 2000);
    put_at("checkout/a.c", 3000);
    put_at("checkout/b.c", 4000);
    struct tar_tree tree = {.root = in_scratch("checkout"), .include = none, .settled = settled};
    struct tar_tree exported = {.root = in_scratch("checkout"), .include = settled, .timeless = true};
    hash_of(&tree, before);
    hash_of(&exported, after);
    assert_string_equal(before, after);
    tree.include = loose;
    assert_int_equal(time_of(&tree, "prog"), 0);
    assert_int_equal(time_of(&tree, "a.c"), 1);
    assert_int_equal(time_of(&tree, "b.c"), 1);
    put_at("checkout/a.c", 1000);
    assert_int_equal(time_of(&tree, "a.c"), 0);
    assert_int_equal(time_of(&tree, "prog"), 1);
    assert_int_equal(time_of(&tree, "b.c"), 2);
}

static void cannot_be_sent(struct tar_tree tree, const char *why)
{
    struct err err = {0};
    struct buf stream;
    assert_int_equal(read_all(&tree, 4096, &stream, &err), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    if (!strstr(err.msg, why))
        print_message("# %s\n", err.msg);
    assert_non_null(strstr(err.msg, why));
    buf_release(&stream);
}

TEST(what_must_not_be_sent_is_refused)
{
    struct err err = {0};
    char root[FS_PATH_MAX];
    snprintf(root, sizeof root, "%s/four", scratch);
    struct tar_tree tree = {.root = root};
    assert_int_equal(fs_mkdir_p(in_scratch("four/sub"), 0700, &err), 0);
    assert_int_equal(fs_mkdir_p(in_scratch("four-sibling"), 0700, &err), 0);
    put_with("outside", "secret", 0600);
    const char *const targets[] = {"/etc/passwd", "../../outside", "../../four-sibling", "nowhere"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        assert_int_equal(symlink(targets[i], in_scratch("four/sub/link")), 0);
        cannot_be_sent(tree, "out of the tree");
        unlink(in_scratch("four/sub/link"));
    }
    assert_int_equal(mkfifo(in_scratch("four/fifo"), 0600), 0);
    cannot_be_sent(tree, "neither file, folder nor link");
    unlink(in_scratch("four/fifo"));
    put_with("four/big", "0123456789", 0600);
    tree.limits.file_bytes = 9;
    cannot_be_sent(tree, "larger than may be sent");
    tree.limits = (struct tar_limits){.entries = 1};
    cannot_be_sent(tree, "more than 1 files");
    tree.limits = (struct tar_limits){0};
    const char *const include[] = {"../outside", NULL};
    tree.include = include;
    cannot_be_sent(tree, "inside the tree");
    const char *const missing[] = {"no-such", NULL};
    tree.include = missing;
    cannot_be_sent(tree, "no-such");
    assert_int_equal(fs_mkdir_p(in_scratch("bare/.git"), 0700, &err), 0);
    tree = (struct tar_tree){.root = in_scratch("bare")};
    cannot_be_sent(tree, "nothing to send");
    tree = (struct tar_tree){.root = in_scratch("nothing here")};
    cannot_be_sent(tree, "nothing here");
}

TEST(a_file_that_changes_is_an_error)
{
    struct err err = {0};
    struct tar_tree tree = {.root = in_scratch("five")};
    struct tar_writer *w;
    char data[512];
    assert_int_equal(fs_mkdir_p(in_scratch("five"), 0700, &err), 0);
    put_with("five/f", "before", 0600);
    assert_int_equal(tar_writer_open(&w, &tree, &err), 0);
    put_with("five/f", "after it was listed", 0600);
    assert_int_equal(tar_writer_read(w, data, sizeof data, &err), -1);
    assert_non_null(strstr(err.msg, "changed while"));
    tar_writer_close(w);
}

static int extract(const char *dir, const void *data, size_t len, const struct tar_limits *limits,
                   struct err *err)
{
    struct tar_extractor *x;
    if (tar_extractor_open(&x, in_scratch(dir), limits, err))
        return -1;
    int rc = 0;
    for (size_t off = 0; off < len && rc == 0; off += 1000)
        rc = tar_extractor_write(x, (const char *)data + off, len - off < 1000 ? len - off : 1000, err);
    if (rc == 0)
        rc = tar_extractor_finish(x, err);
    tar_extractor_close(x);
    return rc;
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(in_scratch(name), &st), 0);
    return st.st_mode;
}

TEST(what_was_written_can_be_extracted)
{
    struct err err = {0};
    struct buf stream, text;
    make_tree("six");
    struct tar_tree tree = {.root = in_scratch("six")};
    assert_int_equal(read_all(&tree, 4096, &stream, &err), 0);
    assert_int_equal(extract("six-out", stream.data, stream.len, NULL, &err), 0);
    buf_init(&text, 1000);
    assert_int_equal(fs_read_file(in_scratch("six-out/src/a.c"), 1000, &text, &err), 0);
    assert_string_equal(buf_str(&text), "int a;\n");
    assert_int_equal(mode_of("six-out/src/run.sh"), S_IFREG | 0600);
    assert_int_equal(mode_of("six-out/src"), S_IFDIR | 0700);
    assert_int_equal(mode_of("six-out/empty"), S_IFDIR | 0700);
    for (size_t cut = 1; cut < stream.len; cut += stream.len / 7) {
        struct err cut_err = {0};
        assert_int_equal(extract("six-cut", stream.data, stream.len - cut, NULL, &cut_err), -1);
        assert_int_equal(cut_err.kind, ERR_NODE);
        assert_false(fs_exists(in_scratch("six-cut")));
    }
    assert_int_equal(extract("six-out", stream.data, stream.len, NULL, &err), -1);
    assert_non_null(strstr(err.msg, "not empty"));
    assert_true(fs_exists(in_scratch("six-out/src/a.c"))); /* existed before */
    buf_release(&text);
    buf_release(&stream);
}

/* A hostile entry after a harmless one. */
struct hostile {
    const char *name;
    mode_t type;
    const char *link, *hardlink;
    int64_t size;
    const char *why;
};

static void add_entry(struct archive *a, const struct hostile *h)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, h->name);
    archive_entry_set_mode(e, h->type | 0644);
    archive_entry_set_size(e, h->size);
    if (h->link)
        archive_entry_set_symlink(e, h->link);
    if (h->hardlink)
        archive_entry_set_hardlink(e, h->hardlink);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    for (int64_t i = 0; i < h->size; i += 10)
        archive_write_data(a, "0123456789", 10);
    archive_entry_free(e);
}

static size_t make_archive(const struct hostile *h, char *out, size_t size)
{
    static const struct hostile innocent = {.name = "fine", .type = S_IFREG, .size = 10};
    size_t used = 0;
    struct archive *a = archive_write_new();
    archive_write_set_format_gnutar(a);
    archive_write_add_filter_none(a);
    assert_int_equal(archive_write_open_memory(a, out, size, &used), ARCHIVE_OK);
    add_entry(a, &innocent);
    add_entry(a, h);
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return used;
}

TEST(hostile_entries_are_refused)
{
    static const struct hostile cases[] = {
        {"/etc/pwned", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"../pwned", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"a/../../pwned", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"a/./b", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"a//b", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"..", S_IFDIR, NULL, NULL, 0, "not a plain relative path"},
        {"new\nline", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"esc\x1b[2J", S_IFREG, NULL, NULL, 10, "not a plain relative path"},
        {"link", S_IFLNK, "/etc", NULL, 0, "neither a file nor a folder"},
        {"link", S_IFLNK, "fine", NULL, 0, "neither a file nor a folder"},
        {"hard", S_IFREG, NULL, "fine", 0, "neither a file nor a folder"},
        {"fifo", S_IFIFO, NULL, NULL, 0, "neither a file nor a folder"},
        {"dev", S_IFCHR, NULL, NULL, 0, "neither a file nor a folder"},
        {"fine", S_IFREG, NULL, NULL, 10, "comes twice"},
        {"fine/below", S_IFREG, NULL, NULL, 10, "fine"},
        {"big", S_IFREG, NULL, NULL, 1010, "exceeds the limit"},
        {"sum", S_IFREG, NULL, NULL, 1000, "exceeds the limit"},
    };
    static char data[65536];
    const struct tar_limits limits = {.total_bytes = 1000, .file_bytes = 1000, .entries = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        size_t len = make_archive(&cases[i], data, sizeof data);
        assert_int_equal(extract("bad", data, len, &limits, &err), -1);
        if (!strstr(err.msg, cases[i].why))
            print_message("# %s: %s\n", cases[i].name, err.msg);
        assert_non_null(strstr(err.msg, cases[i].why));
        assert_null(strchr(err.msg, '\x1b'));
        assert_null(strchr(err.msg, '\n'));
        assert_int_equal(fs_remove_tree(in_scratch("bad"), &err), 0);
        assert_false(fs_exists(in_scratch("pwned")));
    }
    assert_false(fs_exists("/etc/pwned"));
}

TEST(an_endless_stream_is_cut)
{
    static const char zeros[65536];
    struct err err = {0};
    struct tar_extractor *x;
    const struct tar_limits limits = {.total_bytes = 100000, .file_bytes = 1000, .entries = 10};
    assert_int_equal(tar_extractor_open(&x, in_scratch("endless"), &limits, &err), 0);
    int rounds = 0;
    while (tar_extractor_write(x, zeros, sizeof zeros, &err) == 0)
        assert_true(++rounds < 10);
    assert_int_equal(err.kind, ERR_NODE);
    tar_extractor_close(x);
}

TEST(garbage_is_no_tar)
{
    static char data[20480];
    struct err err = {0};
    for (size_t i = 0; i < sizeof data - 1024; i++)
        data[i] = (char)(i * 2654435761u >> 11);
    assert_int_equal(extract("garbage", data, sizeof data, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_NODE);
    assert_int_equal(extract("nothing", data, 0, NULL, &err), -1);
}

/* With any byte of a valid stream changed, it is extracted or rejected, but nothing is written outside. */
TEST(damaged_streams_do_no_harm)
{
    struct err err = {0};
    struct buf stream;
    make_tree("seven");
    struct tar_tree tree = {.root = in_scratch("seven")};
    assert_int_equal(read_all(&tree, 4096, &stream, &err), 0);
    for (size_t i = 0; i < stream.len; i += 37) {
        char was = stream.data[i];
        stream.data[i] = (char)(was ^ (1 << i % 8));
        (void)extract("damaged", stream.data, stream.len, NULL, &err);
        stream.data[i] = was;
        assert_int_equal(fs_remove_tree(in_scratch("damaged"), &err), 0);
    }
    assert_true(fs_exists(in_scratch("seven/src/a.c")));
    buf_release(&stream);
}

GROUP(scratch_make, scratch_remove);
