/* known_hosts: finds the same lines as ssh-keygen -F, and judges keys correctly. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/ssh/known_hosts.h"

#include "common/base/buf.h"
#include "common/base/spawn.h"
#include "harness/transport/child.h"

/* Two ed25519 keys and an ECDSA one, made for this test. */
#define KEY_A "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILfJq9D36BHRHOT+hUxx9r1P5O72LP7K0cN4G66qpy3V"
#define KEY_B "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICgN16hcRpRIf6t2lbmZCS2zTs87eBo/rPwnxVthG7+5"
#define KEY_EC                                                                                               \
    "ecdsa-sha2-nistp256 "                                                                                   \
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIUg6dmVDKpO3nuz4o1BqQSV9SAuUgx7OS5wOrDFC7AMJzTpSc" \
    "O7GWej4pYj72nYCkjzCssGK3gfm45jUh9Npho="

static struct known_hosts parse(const char *text, const char *name)
{
    struct known_hosts kh = {0};
    known_hosts_parse(&kh, text, strlen(text), "f", name);
    return kh;
}

static size_t lines_for(const char *text, const char *name)
{
    struct known_hosts kh = parse(text, name);
    size_t n = kh.count;
    known_hosts_release(&kh);
    return n;
}

TEST(names_match_as_openssh_has_it)
{
    assert_int_equal(lines_for("node " KEY_A "\n", "node"), 1);
    assert_int_equal(lines_for("NODE " KEY_A "\n", "node"), 1);
    assert_int_equal(lines_for("node,other " KEY_A "\n", "other"), 1);
    assert_int_equal(lines_for("nod " KEY_A "\n", "node"), 0);
    assert_int_equal(lines_for("node.example " KEY_A "\n", "node"), 0);
    assert_int_equal(lines_for("*.example.org " KEY_A "\n", "a.b.example.org"), 1);
    assert_int_equal(lines_for("n?de " KEY_A "\n", "node"), 1);
    assert_int_equal(lines_for("*,!node " KEY_A "\n", "node"), 0);
    assert_int_equal(lines_for("*,!node " KEY_A "\n", "other"), 1);
    assert_int_equal(lines_for("[node]:2222 " KEY_A "\n", "[node]:2222"), 1);
    assert_int_equal(lines_for("[node]:2222 " KEY_A "\n", "node"), 0);
    assert_int_equal(lines_for("node " KEY_A "\n", "[node]:2222"), 0);
}

TEST(malformed_lines_are_skipped)
{
    static const char *const bad[] = {
        "",
        "#node " KEY_A,
        "node",
        "node ssh-ed25519",
        "node ssh-ed25519 !!!!",
        "node ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAILfJq9D36BHRHOT+hUxx9r1P5O72LP7K0cN4G66qpy3V",
        "@unknown node " KEY_A,
        "@revoked",
        "|1|x|y " KEY_A,
        "|1| " KEY_A,
        "|1|" KEY_A,
        "node 1024 35 1234567",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s\nnode " KEY_A "\r\n", bad[i]);
        struct known_hosts kh = parse(text, "node");
        if (kh.count != 1)
            print_message("# line: %s\n", bad[i]);
        assert_int_equal(kh.count, 1);
        assert_int_equal(kh.keys[0].line, 2);
        known_hosts_release(&kh);
    }
}

static enum known_verdict verdict_on(const char *text, const char *presented, unsigned *line)
{
    struct known_hosts kh = parse(text, "node");
    struct known_hosts key = parse(presented, "node");
    const struct known_key *which;
    assert_int_equal(key.count, 1);
    enum known_verdict v = known_hosts_check(&kh, key.keys[0].blob, key.keys[0].len, &which);
    *line = which ? which->line : 0;
    known_hosts_release(&kh);
    known_hosts_release(&key);
    return v;
}

TEST(a_key_is_known_changed_revoked_or_unknown)
{
    unsigned line;
    assert_int_equal(verdict_on("other " KEY_A "\n", "node " KEY_A, &line), KNOWN_UNKNOWN);
    assert_int_equal(verdict_on("node " KEY_A "\n", "node " KEY_A, &line), KNOWN_MATCH);
    assert_int_equal(verdict_on("node " KEY_B "\n", "node " KEY_A, &line), KNOWN_CHANGED);
    assert_int_equal(line, 1);
    assert_int_equal(verdict_on("node " KEY_EC "\n", "node " KEY_A, &line), KNOWN_CHANGED);
    assert_int_equal(verdict_on("node " KEY_B "\nnode " KEY_A "\n", "node " KEY_A, &line), KNOWN_MATCH);
    assert_int_equal(line, 2);
    assert_int_equal(verdict_on("node " KEY_A "\n@revoked * " KEY_A "\n", "node " KEY_A, &line),
                     KNOWN_IS_REVOKED);
    assert_int_equal(line, 2);
    assert_int_equal(verdict_on("@revoked * " KEY_B "\nnode " KEY_A "\n", "node " KEY_A, &line), KNOWN_MATCH);
    assert_int_equal(verdict_on("@revoked * " KEY_B "\n", "node " KEY_A, &line), KNOWN_UNKNOWN);
    assert_int_equal(verdict_on("@cert-authority * " KEY_A "\n", "node " KEY_A, &line), KNOWN_UNKNOWN);
}

TEST(types_are_listed_once)
{
    struct known_hosts kh = parse("node " KEY_A "\n@revoked node " KEY_EC "\nnode " KEY_B "\n", "node");
    AUTO(buf_release) struct buf types = {.max = 1000};
    known_hosts_types(&kh, &types);
    assert_string_equal(buf_str(&types), "ssh-ed25519");
    known_hosts_release(&kh);
}

TEST(a_hashed_name_is_found_again)
{
    struct err err = {0};
    char name[80], text[400];
    assert_int_equal(known_hosts_hash_name("[node]:2222", name, &err), 0);
    snprintf(text, sizeof text, "%s " KEY_A "\n", name);
    assert_int_equal(lines_for(text, "[node]:2222"), 1);
    assert_int_equal(lines_for(text, "node"), 0);
}

/* The lines that ssh-keygen -F finds. */
static size_t keygen_finds(const char *file, const char *name)
{
    const char *argv[] = {"ssh-keygen", "-F", name, "-f", file, NULL};
    const struct transport_scope scope = {.who = "ssh-keygen"};
    struct transport_result res;
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 100000};
    assert_int_equal(transport_child_capture(argv, 60, &scope, &out, &res, &err), 0);
    size_t n = 0;
    for (const char *at = buf_str(&out); (at = strstr(at, "# Host ")); at++)
        n++;
    return n;
}

TEST(agrees_with_ssh_keygen)
{
    static const char *const names[] = {"node",          "[node]:2222", "a.example.org",
                                        "b.example.org", "10.0.0.7",    "zzz"};
    static const char text[] = "node,10.0.0.7 " KEY_A "\n"
                               "junk\n"
                               "*.example.org,!b.example.org " KEY_B "\n"
                               "@revoked *.example.org " KEY_EC "\n"
                               "@cert-authority * " KEY_EC "\n"
                               "[node]:2222 " KEY_EC "\n"
                               "10.0.0.? " KEY_EC " comment with spaces\n";
    if (!spawn_on_path("ssh-keygen"))
        skip();
    char file[] = "/tmp/known_hosts.XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    char hash[80], line[400];
    struct err err = {0};
    assert_int_equal(known_hosts_hash_name("zzz", hash, &err), 0);
    int len = snprintf(line, sizeof line, "%s " KEY_A "\n", hash);
    assert_int_equal(write(fd, line, (size_t)len), len);
    close(fd);
    char *files[] = {file, NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO(known_hosts_release) struct known_hosts kh = {0};
        assert_int_equal(known_hosts_load(&kh, files, names[i], &err), 0);
        print_message("# %s: %zu lines\n", names[i], kh.count);
        assert_int_equal(kh.count, keygen_finds(file, names[i]));
    }
    unlink(file);
}

TEST(missing_files_hold_nothing)
{
    struct err err = {0};
    struct known_hosts kh;
    char *files[] = {(char[]){"/nonexistent/known_hosts"}, (char[]){"/dev/null"}, NULL};
    assert_int_equal(known_hosts_load(&kh, files, "node", &err), 0);
    assert_int_equal(kh.count, 0);
}

TEST(fingerprints_as_ssh_keygen_shows_them)
{
    struct known_hosts kh = parse("node " KEY_A "\n", "node");
    char text[FINGERPRINT_LEN + 1];
    ssh_fingerprint(kh.keys[0].blob, kh.keys[0].len, text);
    assert_string_equal(text, "SHA256:zrQGSpA/Fbkfm8N6Ot2KmXiTQaSNuV8xQG8hfXwi+pg");
    known_hosts_release(&kh);
}

TEST(malformed_blobs_have_no_type)
{
    char type[KNOWN_KEY_TYPE_MAX];
    assert_null(ssh_blob_type("", 0, type));
    assert_null(ssh_blob_type("\0\0\0", 3, type));
    assert_null(ssh_blob_type("\0\0\0\0", 4, type));
    assert_null(ssh_blob_type("\0\0\0\5abcd", 8, type));
    assert_null(ssh_blob_type("\xff\xff\xff\xff"
                              "abcd",
                              8, type));
    assert_null(ssh_blob_type("\0\0\0\3a,b", 7, type));
    assert_null(ssh_blob_type("\0\0\0\3a\nb", 7, type));
    assert_string_equal(ssh_blob_type("\0\0\0\3abc", 7, type), "abc");
}
