/* Lines of known_hosts, ours and the system's, which a user may have from anywhere. */
#include "harness/ssh/known_hosts.h"
#include "tests/fuzz/fuzz.h"

static void look_up(const char *text, size_t size, const char *name)
{
    struct known_hosts kh = {0};
    const struct known_key *which;
    struct buf types;
    char type[KNOWN_KEY_TYPE_MAX], print[FINGERPRINT_LEN + 1];
    known_hosts_parse(&kh, text, size, "known_hosts", name);
    for (size_t i = 0; i < kh.count; i++) {
        const struct known_key *key = &kh.keys[i];
        enum known_verdict verdict = known_hosts_check(&kh, key->blob, key->len, &which);
        fuzz_check(key->mark != KNOWN_PLAIN || verdict == KNOWN_MATCH || verdict == KNOWN_IS_REVOKED);
        fuzz_check(key->mark != KNOWN_REVOKED || verdict == KNOWN_IS_REVOKED);
        fuzz_check(ssh_blob_type(key->blob, key->len, type) && strcmp(type, key->type) == 0);
        ssh_fingerprint(key->blob, key->len, print);
    }
    buf_init(&types, 1 << 20);
    known_hosts_types(&kh, &types);
    fuzz_check_text(buf_str(&types), types.len);
    buf_release(&types);
    known_hosts_check(&kh, text, size, &which);
    known_hosts_release(&kh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look_up((const char *)data, size, "host");
    look_up((const char *)data, size, "[host]:2222");
    return 0;
}
