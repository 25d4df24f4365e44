#include "harness/ssh/transport.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "harness/ssh/auth.h"
#include "harness/ssh/channel.h"
#include "harness/ssh/session.h"
#include "harness/transport/backend.h"

#include <stdlib.h>
#include <string.h>

struct ssh_impl {
    struct ssh_config config;
    struct ssh_session session;
    struct ssh_passphrases passphrases;
    bool policy_checked;
};

static int ssh_prepare(struct transport *t, struct err *err)
{
    struct ssh_impl *impl = xcalloc(1, sizeof *impl);
    t->impl = impl;
    ssh_session_init(&impl->session, &impl->config, &t->scope);
    if (ssh_config_resolve(&impl->config, t->target.node, t->target.ssh_config, &t->scope, err) != 0)
        return -1;
    ssh_config_describe(&impl->config, t->describe, sizeof t->describe);
    return 0;
}

static void ssh_disconnect(struct transport *t)
{
    struct ssh_impl *impl = t->impl;
    t->connected = false;
    if (impl)
        ssh_session_drop(&impl->session);
}

/* Another back-end is better than a connection that ignores the user's settings. */
static int check_policy(struct ssh_impl *impl, const struct transport *t, enum transport_failure *why,
                        struct err *err)
{
    AUTO(buf_release) struct buf defaults = {.max = SSH_G_OUTPUT_MAX};
    AUTO(buf_release) struct buf unserved = {.max = SSH_PATH_MAX};
    if (impl->policy_checked || !impl->config.printed)
        return 0;
    if (ssh_config_defaults(&impl->config, &t->scope, &defaults, err) != 0)
        return -1;
    ssh_config_unserved(impl->config.printed, buf_str(&defaults), &unserved);
    ssh_config_unserved_keys(&impl->config, &unserved);
    if (unserved.len > 0) {
        *why = TRANSPORT_FAILURE_UNSUPPORTED;
        return err_set(err, ERR_NODE,
                       "%s: the ssh configuration sets %s, which libssh2 does not follow; the "
                       "OpenSSH client does",
                       t->describe, buf_str(&unserved));
    }
    if (t->target.backends[t->backend + 1])
        ssh_auth_unserved(&impl->config, &t->scope, &unserved);
    if (unserved.len > 0) {
        *why = TRANSPORT_FAILURE_UNSUPPORTED;
        return err_set(err, ERR_NODE,
                       "%s: libssh2 %s cannot use %s, which the OpenSSH client may offer first", t->describe,
                       libssh2_version(0), buf_str(&unserved));
    }
    impl->policy_checked = true;
    return 0;
}

static int ssh_connect(struct transport *t, int64_t deadline_ns, enum transport_failure *why, struct err *err)
{
    struct ssh_impl *impl = t->impl;
    struct ssh_session *s = &impl->session;
    if (check_policy(impl, t, why, err) != 0)
        return -1;
    s->deadline_ns = deadline_ns;
    if (ssh_session_open(s, why, err) || ssh_session_verify_host(s, t->fingerprint, why, err) ||
        ssh_auth_login(s, &impl->passphrases, why, err)) {
        ssh_session_drop(s);
        return -1;
    }
    t->connected = true;
    t->last_heard_s = clock_mono_s();
    return 0;
}

static int ssh_exec(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                    struct err *err)
{
    struct ssh_impl *impl = t->impl;
    bool usable;
    int rc = ssh_channel_exec(&impl->session, cmd, res, &usable, err);
    if (!usable)
        ssh_disconnect(t);
    return rc;
}

static void ssh_release(struct transport *t)
{
    struct ssh_impl *impl = t->impl;
    if (!impl)
        return;
    ssh_config_release(&impl->config);
    explicit_bzero(impl, sizeof *impl);
    free(impl);
    t->impl = NULL;
}

const struct transport_ops ssh_transport_ops = {
    .name = "libssh2",
    .serves = ssh_config_serves,
    .prepare = ssh_prepare,
    .connect = ssh_connect,
    .exec = ssh_exec,
    .disconnect = ssh_disconnect,
    .release = ssh_release,
};
