/* ssh_config: names of nodes, what `ssh -G` prints for them, and what of it libssh2 does not follow. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/ssh/config.h"

#include "common/base/fs.h"
#include "common/base/spawn.h"

static const struct transport_scope scope = {.who = "test"};

static void resolve(struct ssh_config *c, const char *node, const char *file)
{
    struct err err = {0};
    if (ssh_config_resolve(c, node, file, &scope, &err))
        fail_msg("%s: %s", node, err.msg);
}

static void check(const char *node, const char *user, const char *host, int port, const char *key_name)
{
    AUTO(ssh_config_release) struct ssh_config c = {0};
    resolve(&c, node, "/dev/null");
    if (user)
        assert_string_equal(c.user, user);
    assert_string_equal(c.host, host);
    assert_int_equal(c.port, port);
    assert_string_equal(c.key_name, key_name);
}

static bool has_client(void)
{
    return spawn_on_path("ssh");
}

TEST(a_node_is_split_into_user_host_and_port)
{
    if (!has_client())
        skip();
    check("node", NULL, "node", 22, "node");
    check("me@node", "me", "node", 22, "node");
    check("me@Node:2222", "me", "node", 2222, "[node]:2222");
    check("me@[::1]:2222", "me", "::1", 2222, "[::1]:2222");
    check("::1", NULL, "::1", 22, "::1");
    check("a@b@node", "a@b", "node", 22, "node");
}

TEST(bad_names_are_input_errors)
{
    static const char *const bad[] = {
        "",     "-oProxyCommand=x", "a b",   "node:",   "node:0",  "node:65536", "node:x",  "@node",
        "me@",  "-x@node",          "[::1",  "[::1]x",  "a;touch", "$(id)",      "node\nx", "node:22 -v",
        "`id`", "me@-node",         "[]:22", "node:-1", "'node'"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        AUTO(ssh_config_release) struct ssh_config c = {0};
        struct err err = {0};
        if (ssh_config_resolve(&c, bad[i], NULL, &scope, &err) == 0)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.kind, ERR_INPUT);
        assert_null(strchr(err.msg, '\n'));
    }
}

static void write_config(const char *path, const char *text)
{
    struct err err = {0};
    assert_int_equal(fs_write_file(path, text, strlen(text), 0600, &err), 0);
}

TEST(aliases_mean_what_ssh_says)
{
    if (!has_client())
        skip();
    char path[] = "/tmp/ssh_config.XXXXXX";
    close(mkstemp(path));
    write_config(path,
                 "Host gpu\n HostName 10.1.2.3\n Port 2201\n User ann\n"
                 " IdentityFile \"~/keys/%h-%r key\"\n IdentityFile /abs/%%key\n IdentitiesOnly yes\n"
                 " UserKnownHostsFile \"/tmp/with space/kh\" /tmp/other\n GlobalKnownHostsFile /tmp/global\n"
                 " ProxyJump bob@jump:2200\n HashKnownHosts yes\n IdentityAgent none\n"
                 "Host aliased\n HostName 10.1.2.3\n HostKeyAlias Gpu-Key\n Port 2201\n"
                 " ProxyCommand nc %h %p\n IdentityAgent /tmp/agent\n");
    setenv("HOME", "/home/ann", 1);
    struct ssh_config c;
    resolve(&c, "gpu", path);
    assert_string_equal(c.alias, "gpu");
    assert_string_equal(c.host, "10.1.2.3");
    assert_string_equal(c.user, "ann");
    assert_int_equal(c.port, 2201);
    assert_string_equal(c.key_name, "[10.1.2.3]:2201");
    assert_string_equal(c.identity_files[0], "/home/ann/keys/10.1.2.3-ann key");
    assert_string_equal(c.identity_files[1], "/abs/%key");
    assert_true(c.identities_only);
    assert_true(c.hash_known_hosts);
    assert_string_equal(c.known_hosts[0], "/tmp/with space/kh");
    assert_string_equal(c.known_hosts[1], "/tmp/other");
    assert_string_equal(c.known_hosts[2], "/tmp/global");
    assert_null(c.known_hosts[3]);
    assert_string_equal(c.proxy_jump, "bob@jump:2200");
    assert_string_equal(c.agent, "");
    ssh_config_release(&c);
    resolve(&c, "eve@aliased", path);
    assert_string_equal(c.user, "eve");
    assert_string_equal(c.key_name, "gpu-key");
    assert_string_equal(c.proxy_command, "nc 10.1.2.3 2201");
    assert_string_equal(c.agent, "/tmp/agent");
    char text[100];
    ssh_config_describe(&c, text, sizeof text);
    assert_string_equal(text, "eve@10.1.2.3:2201");
    ssh_config_release(&c);
    unlink(path);
}

TEST(a_bad_configuration_is_an_input_error)
{
    if (!has_client())
        skip();
    char path[] = "/tmp/ssh_config.XXXXXX";
    close(mkstemp(path));
    write_config(path, "Host gpu\n NoSuchOption 1\n");
    struct ssh_config c;
    struct err err = {0};
    assert_int_equal(ssh_config_resolve(&c, "gpu", path, &scope, &err), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    assert_non_null(strstr(err.msg, "line 2"));
    ssh_config_release(&c);
    unlink(path);
    assert_int_equal(ssh_config_resolve(&c, "gpu", path, &scope, &err), -1);
    ssh_config_release(&c);
}

TEST(without_the_client_there_are_defaults)
{
    const char *before = getenv("PATH");
    assert_non_null(before);
    AUTO_FREE char *path = strdup(before);
    setenv("PATH", "/nonexistent", 1);
    setenv("HOME", "/home/ann", 1);
    struct ssh_config c;
    struct err err = {0};
    resolve(&c, "ann@node:2222", NULL);
    assert_string_equal(c.user, "ann");
    assert_string_equal(c.key_name, "[node]:2222");
    assert_string_equal(c.identity_files[0], "/home/ann/.ssh/id_ed25519");
    assert_string_equal(c.known_hosts[0], "/home/ann/.ssh/known_hosts");
    ssh_config_release(&c);
    assert_int_equal(ssh_config_resolve(&c, "node", "/dev/null", &scope, &err), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    ssh_config_release(&c);
    setenv("PATH", path, 1);
}

static const char defaults[] =
    "hostname h\nciphers a,b\nmacs m\nipqos lowdelay throughput\nhashknownhosts no\n";

static void check_unserved(const char *wanted, const char *expected)
{
    AUTO(buf_release) struct buf out = {.max = 1024};
    ssh_config_unserved(wanted, defaults, &out);
    assert_string_equal(buf_str(&out), expected);
}

TEST(equal_settings_are_served)
{
    check_unserved(defaults, "");
    check_unserved("macs m\nciphers a,b\n", "");
    check_unserved("", "");
}

TEST(settings_that_config_reads_are_served)
{
    check_unserved("hostname other\nhashknownhosts yes\naddressfamily inet\n", "");
}

TEST(other_settings_are_named)
{
    check_unserved("ciphers a\nmacs m\n", "Ciphers");
    check_unserved("ciphers a,b,c\nipqos none", "Ciphers, IPQoS");
    check_unserved("bindaddress 192.0.2.1\n", "BindAddress");
}

TEST(a_name_that_only_begins_alike_is_another)
{
    check_unserved("ciphersuite x\nmacs2 y\n", "");
}
