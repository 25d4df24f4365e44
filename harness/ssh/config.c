#include "harness/ssh/config.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "common/contract/node_name.h"
#include "harness/transport/child.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEFAULT_PORT = 22 };

static const double ssh_g_deadline_s = 20.0;

static int parse_node(const char *node, struct node_name *name, struct err *err)
{
    return node_name_parse(node, name)
               ? 0
               : err_set(err, ERR_INPUT, "node \"%s\": expected " NODE_NAME_EXPECTED, node);
}

static const char *local_user(void)
{
    const struct passwd *pw = getpwuid(getuid());
    const char *user = pw ? pw->pw_name : getenv("USER");
    return user ? user : "root";
}

static void expand_token(const struct ssh_config *c, char token, struct buf *out)
{
    switch (token) {
    case '%':
        buf_putc(out, '%');
        break;
    case 'd':
        buf_puts(out, transport_home_folder());
        break;
    case 'h':
        buf_puts(out, c->host);
        break;
    case 'i':
        buf_printf(out, "%u", (unsigned)getuid());
        break;
    case 'n':
        buf_puts(out, c->alias);
        break;
    case 'p':
        buf_printf(out, "%d", c->port);
        break;
    case 'r':
        buf_puts(out, c->user);
        break;
    case 'u':
        buf_puts(out, local_user());
        break;
    default: /* rarer tokens do not occur in names of files */
        buf_putc(out, '%');
        buf_putc(out, token);
    }
}

/* Expands a leading ~ and % tokens. NULL when the result is too long. */
static char *expand_path(const struct ssh_config *c, const char *text)
{
    AUTO(buf_release) struct buf out = {.max = SSH_PATH_MAX - 1};
    if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
        buf_puts(&out, transport_home_folder());
        text++;
    }
    for (; *text; text++) {
        if (text[0] == '%' && text[1])
            expand_token(c, *++text, &out);
        else
            buf_putc(&out, *text);
    }
    return buf_steal(&out);
}

/* Whether something is left in a path that only ssh expands. */
static bool is_unexpanded(const char *path)
{
    return *path == '~' || strstr(path, "${") || strchr(path, '%');
}

void ssh_config_unserved_keys(const struct ssh_config *c, struct buf *out)
{
    for (size_t i = 0; c->identity_files[i]; i++) {
        AUTO_FREE char *certificate = xasprintf("%s-cert.pub", c->identity_files[i]);
        if (is_unexpanded(c->identity_files[i]))
            buf_printf(out, "%sthe IdentityFile %s", out->len ? ", " : "", c->identity_files[i]);
        else if (fs_exists(certificate))
            buf_printf(out, "%sthe certificate %s", out->len ? ", " : "", certificate);
    }
}

static int add_file(const struct ssh_config *c, char **files, const char *text)
{
    if (strcmp(text, "none") == 0)
        return 0;
    size_t n = 0;
    while (files[n])
        n++;
    if (n == SSH_FILES_MAX)
        return -1;
    files[n] = expand_path(c, text);
    return files[n] ? 0 : -1;
}

/* ssh -G separates absolute paths by unquoted spaces, so a path ends at " /". */
static int add_joined_files(const struct ssh_config *c, char **files, char *text)
{
    while (*text) {
        char *next = strstr(text, " /");
        if (next)
            *next++ = '\0';
        if (add_file(c, files, text))
            return -1;
        text = next ? next : text + strlen(text);
    }
    return 0;
}

static int copy_text(char *out, size_t size, const char *text)
{
    int n = snprintf(out, size, "%s", strcmp(text, "none") == 0 ? "" : text);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Handles one line of ssh -G. Keys that name the host have a separate first pass, as the others refer to
 * them. */
static int read_name(struct ssh_config *c, const char *key, char *value)
{
    if (strcmp(key, "hostname") == 0)
        return copy_text(c->host, sizeof c->host, value);
    if (strcmp(key, "user") == 0)
        return copy_text(c->user, sizeof c->user, value);
    if (strcmp(key, "port") == 0)
        return (c->port = node_name_port(value)) > 0 ? 0 : -1;
    if (strcmp(key, "hostkeyalias") == 0)
        return copy_text(c->key_name, sizeof c->key_name, value);
    return 0;
}

static int read_agent(struct ssh_config *c, const char *value)
{
    if (strcmp(value, "none") == 0) {
        c->agent[0] = '\0';
        return 0;
    }
    const char *from_env = NULL;
    if (strcmp(value, "SSH_AUTH_SOCK") == 0)
        from_env = getenv("SSH_AUTH_SOCK");
    else if (*value == '$')
        from_env = getenv(value + 1);
    if (from_env || *value == '$')
        return copy_text(c->agent, sizeof c->agent, from_env ? from_env : "");
    AUTO_FREE char *path = expand_path(c, value);
    return path ? copy_text(c->agent, sizeof c->agent, path) : -1;
}

static int read_proxy_command(struct ssh_config *c, const char *value)
{
    AUTO_FREE char *command = expand_path(c, value);
    return command ? copy_text(c->proxy_command, sizeof c->proxy_command, command) : -1;
}

static int read_rest(struct ssh_config *c, const char *key, char *value)
{
    if (strcmp(key, "identityfile") == 0)
        return add_file(c, c->identity_files, value);
    if (strcmp(key, "userknownhostsfile") == 0)
        return add_joined_files(c, c->known_hosts, value);
    if (strcmp(key, "addressfamily") == 0)
        c->family = strcmp(value, "inet") == 0 ? AF_INET : strcmp(value, "inet6") == 0 ? AF_INET6 : AF_UNSPEC;
    if (strcmp(key, "identitiesonly") == 0)
        c->identities_only = strcmp(value, "yes") == 0;
    if (strcmp(key, "hashknownhosts") == 0)
        c->hash_known_hosts = strcmp(value, "yes") == 0;
    if (strcmp(key, "identityagent") == 0)
        return read_agent(c, value);
    if (strcmp(key, "proxyjump") == 0)
        return copy_text(c->proxy_jump, sizeof c->proxy_jump, value);
    if (strcmp(key, "proxycommand") == 0)
        return read_proxy_command(c, value);
    return 0;
}

/* A last pass, as the user's files must come first: that is where a trusted key is stored. */
static int read_global(struct ssh_config *c, const char *key, char *value)
{
    return strcmp(key, "globalknownhostsfile") == 0 ? add_joined_files(c, c->known_hosts, value) : 0;
}

typedef int line_fn(struct ssh_config *c, const char *key, char *value);

static int each_line(struct ssh_config *c, const char *text, line_fn *fn)
{
    AUTO_FREE char *copy = xstrdup(text);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *value = line + strcspn(line, " ");
        if (*value == '\0')
            continue;
        *value++ = '\0';
        if (fn(c, line, value) != 0)
            return -1;
    }
    return 0;
}

static int parse_ssh_g(struct ssh_config *c, const char *text, struct err *err)
{
    static line_fn *const passes[] = {read_name, read_rest, read_global};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (each_line(c, text, passes[i]))
            return err_set(err, ERR_INPUT,
                           "node \"%s\": `ssh -G %s` prints something this program cannot use "
                           "(a value that is too long, or more than 16 files?)",
                           c->node, c->alias);
    }
    return 0;
}

/* file: argument of -F, or NULL. command: NULL or a word. */
static int call_ssh_g(const struct ssh_config *c, const struct node_name *spec, const char *file,
                      const char *command, const struct transport_scope *scope, struct buf *out,
                      struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    struct transport_result res;
    strvec_pushl(&argv, "ssh", "-G", NULL);
    if (file)
        strvec_pushl(&argv, "-F", file, NULL);
    if (spec->port)
        strvec_pushf(&argv, "-p%d", spec->port);
    if (spec->user[0])
        strvec_pushl(&argv, "-l", spec->user, NULL);
    strvec_push(&argv, spec->host);
    if (command)
        strvec_push(&argv, command);
    if (transport_child_capture(strvec_argv(&argv), ssh_g_deadline_s, scope, out, &res, err) != 0)
        return -1;
    if (res.exited && res.exit_code == 0)
        return 0;
    res.stderr_text[strcspn(res.stderr_text, "\r\n")] = '\0';
    return err_set(err, ERR_INPUT, "node \"%s\": ssh -G refused the configuration: %s", c->node,
                   res.stderr_text);
}

/* With ForkAfterAuthentication ssh wants a command even where it runs none, and with RemoteCommand it wants
 * none. */
static int run_ssh_g(const struct ssh_config *c, const struct node_name *spec, const char *file,
                     const struct transport_scope *scope, struct buf *out, struct err *err)
{
    struct err why = {0};
    if (call_ssh_g(c, spec, file, NULL, scope, out, &why) == 0)
        return 0;
    if (strstr(why.msg, "Cannot fork into background")) {
        buf_clear(out);
        return call_ssh_g(c, spec, file, "true", scope, out, err);
    }
    if (err)
        *err = why;
    return -1;
}

static int use_client(struct ssh_config *c, const struct node_name *spec, const struct transport_scope *scope,
                      struct err *err)
{
    AUTO(buf_release) struct buf out = {.max = SSH_G_OUTPUT_MAX};
    if (run_ssh_g(c, spec, c->file, scope, &out, err) != 0 || parse_ssh_g(c, buf_str(&out), err) != 0)
        return -1;
    c->printed = buf_steal(&out);
    return 0;
}

static int use_defaults(struct ssh_config *c, const struct node_name *spec, struct err *err)
{
    if (c->file)
        return err_set(err, ERR_INPUT,
                       "%s: an ssh configuration needs the OpenSSH client to read it; install it "
                       "(openssh-client), or name the node as user@host:port",
                       c->file);
    const char *agent = getenv("SSH_AUTH_SOCK");
    snprintf(c->user, sizeof c->user, "%s", spec->user[0] ? spec->user : local_user());
    snprintf(c->agent, sizeof c->agent, "%s", agent ? agent : "");
    c->port = spec->port ? spec->port : DEFAULT_PORT;
    if (add_file(c, c->identity_files, "~/.ssh/id_ed25519") ||
        add_file(c, c->identity_files, "~/.ssh/id_ecdsa") ||
        add_file(c, c->identity_files, "~/.ssh/id_rsa") ||
        add_file(c, c->known_hosts, "~/.ssh/known_hosts") ||
        add_file(c, c->known_hosts, "/etc/ssh/ssh_known_hosts"))
        return err_set(err, ERR_INPUT, "the path of the home folder is too long");
    return 0;
}

static void name_key(struct ssh_config *c)
{
    if (c->key_name[0] == '\0')
        snprintf(c->key_name, sizeof c->key_name, c->port == DEFAULT_PORT ? "%s" : "[%s]:%d", c->host,
                 c->port);
    for (char *p = c->key_name; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

int ssh_config_resolve(struct ssh_config *c, const char *node, const char *file,
                       const struct transport_scope *scope, struct err *err)
{
    struct node_name spec;
    *c = (struct ssh_config){0};
    if (parse_node(node, &spec, err))
        return -1;
    c->node = xstrdup(node);
    c->file = file ? xstrdup(file) : NULL;
    snprintf(c->alias, sizeof c->alias, "%s", spec.host);
    snprintf(c->host, sizeof c->host, "%s", spec.host);
    int rc = spawn_on_path("ssh") ? use_client(c, &spec, scope, err) : use_defaults(c, &spec, err);
    if (rc == 0)
        name_key(c);
    return rc;
}

int ssh_config_defaults(const struct ssh_config *c, const struct transport_scope *scope, struct buf *out,
                        struct err *err)
{
    struct node_name spec;
    if (!c->printed)
        return 0;
    return parse_node(c->node, &spec, err) == 0 ? run_ssh_g(c, &spec, "none", scope, out, err) : -1;
}

bool ssh_config_serves(const char *node)
{
    return strcmp(node, "local") != 0;
}

void ssh_config_release(struct ssh_config *c)
{
    for (size_t i = 0; i < SSH_FILES_MAX; i++) {
        free(c->identity_files[i]);
        free(c->known_hosts[i]);
    }
    free(c->node);
    free(c->file);
    free(c->printed);
    *c = (struct ssh_config){0};
}

void ssh_config_describe(const struct ssh_config *c, char *out, size_t size)
{
    const char *form = strchr(c->host, ':') ? "%s@[%s]:%d" : "%s@%s:%d";
    snprintf(out, size, form, c->user, c->host, c->port);
}

/* Options that libssh2 would silently ignore; those that are read above are not listed. */
static const char *const unserved_options[] = {
    "BindAddress",
    "BindInterface",
    "CASignatureAlgorithms",
    "CertificateFile",
    "Ciphers",
    "Compression",
    "HostKeyAlgorithms",
    "IPQoS",
    "KexAlgorithms",
    "KnownHostsCommand",
    "MACs",
    "PKCS11Provider",
    "PubkeyAcceptedAlgorithms",
    "RekeyLimit",
    "RemoteCommand",
    "RequiredRSASize",
    "RevokedHostKeys",
    "SetEnv",
    "VerifyHostKeyDNS",
};

/* Finds the line of an option. *len: its length without the line end. NULL if there is none. */
static const char *find_line(const char *text, const char *option, size_t *len)
{
    size_t name = strlen(option);
    for (const char *line = text; *line;) {
        *len = strcspn(line, "\n");
        if (*len > name && line[name] == ' ' && strncasecmp(line, option, name) == 0)
            return line;
        line += *len + (line[*len] == '\n');
    }
    return NULL;
}

static bool is_same(const char *wanted, const char *defaults, const char *option)
{
    size_t wanted_len, default_len;
    const char *a = find_line(wanted, option, &wanted_len), *b = find_line(defaults, option, &default_len);
    if (!a)
        return true; /* an older client does not know the option */
    return b && wanted_len == default_len && memcmp(a, b, wanted_len) == 0;
}

void ssh_config_unserved(const char *wanted, const char *defaults, struct buf *out)
{
    for (size_t i = 0; i < sizeof unserved_options / sizeof *unserved_options; i++)
        if (!is_same(wanted, defaults, unserved_options[i]))
            buf_printf(out, "%s%s", out->len ? ", " : "", unserved_options[i]);
}
