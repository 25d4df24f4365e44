#include "harness/session/blocked.h"

#include "common/base/clock.h"
#include "common/base/json.h"
#include "harness/plan/recorded.h"
#include "harness/session/bundle_dir.h"

#include <stdio.h>
#include <string.h>

static const char *const files[] = {"job.json", "summary.json"};

/* No variant was built or tried. */
static json_t *encode_variants(const json_t *job)
{
    json_t *out = json_array(), *variant;
    size_t i;
    json_array_foreach(json_object_get(job, "variants"), i, variant)
    {
        json_array_append_new(out, json_pack("{s:O, s:s, s:s}", "name", json_object_get(variant, "name"),
                                             "status", status_name(STATUS_SKIPPED), "reason", ""));
    }
    return out;
}

static json_t *encode_summary(const json_t *job, const char *reason, const char *pending)
{
    char now[CLOCK_ISO_LEN + 1];
    clock_iso8601(clock_real_s(), now);
    return json_pack("{s:s, s:O, s:O, s:O, s:O, s:O, s:s, s:s, s:s, s:s, s:s, s:o}", "schema",
                     PROTO_SCHEMA_SUMMARY, "run_id", json_object_get(job, "run_id"), "ticket",
                     json_object_get(job, "ticket"), "tag", json_object_get(job, "tag"), "date",
                     json_object_get(job, "date"), "mode", json_object_get(job, "mode"), "status",
                     run_status_name(RUN_BLOCKED), "reason", reason, "pending", pending, "started_at", now,
                     "ended_at", now, "variants", encode_variants(job));
}

static int save_manifest(const char *dir, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    json_auto_t *list = json_array();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size;
        if (fs_join(path, err, dir, files[i]) != 0 ||
            sha256_of_file(path, LIMIT_JSON_BYTES, hex, &size, err) != 0)
            return -1;
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:s}", "path", files[i], "size", (json_int_t)size, "sha256", hex));
    }
    json_auto_t *manifest =
        json_pack("{s:s, s:s, s:O}", "schema", PROTO_SCHEMA_MANIFEST, "run_id", run_id, "files", list);
    return fs_join(path, err, dir, "manifest.json") != 0 ? -1 : json_save(path, manifest, err);
}

int blocked_bundle(const struct session *s, const struct plan *p, const char *reason, const char *pending,
                   char *dir, struct err *err)
{
    char date[16], tag[LIMIT_NAME + 16], path[FS_PATH_MAX];
    clock_today(date);
    const char *day = s->opt.overrides.date ? s->opt.overrides.date : date;
    const struct job_request req = {.run_id = s->rec.run_id,
                                    .purpose = s->rec.purpose,
                                    .sweep = s->rec.sweep,
                                    .date = day,
                                    .gpu_groups = s->gpu_groups};
    json_auto_t *whole = job_encode(p, &req), *job = recorded_without_secrets(whole);
    json_auto_t *summary = encode_summary(job, reason, pending);
    snprintf(tag, sizeof tag, "%s%sblocked", p->settings.tag, *p->settings.tag ? "_" : "");
    if (!summary)
        return err_set(err, ERR_INPUT, "the reason or the command line is not UTF-8 text");
    if (bundle_dir_reserve(dir, s->opt.artifacts, day, p->settings.ticket, tag, err) != 0 ||
        fs_join(path, err, dir, files[0]) != 0 || json_save(path, job, err) != 0 ||
        fs_join(path, err, dir, files[1]) != 0 || json_save(path, summary, err) != 0)
        return -1;
    return save_manifest(dir, s->rec.run_id, err);
}
