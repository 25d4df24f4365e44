#include "results/ingest/text/rocpd.h"

#include "results/store/query.h"

#include <sqlite3.h>
#include <string.h>

enum {
    ROWS_MAX = 200000,
    ROWS_MIB_MAX = 256,
    HEAP_MIB_MAX = 512, /* for what views sort */
    MIB_BITS = 20,
    VALUE_BYTES_MAX = 1 << 20,
    FORMAT_WRITE = 18,
    FORMAT_READ = 19
};

static const char magic[] = "SQLite format 3";
static const double timeout_s = 30;

#define KERNELS(deviation)                                                                                   \
    "SELECT Name, Calls, TotalDurationNs, AverageNs, MinNs, MaxNs," deviation                                \
    " FROM (SELECT name AS Name, count(duration) AS Calls, sum(duration) AS TotalDurationNs,"                \
    " avg(duration) AS AverageNs, min(duration) AS MinNs, max(duration) AS MaxNs,"                           \
    " sum(1.0 * duration * duration) AS squares FROM kernels GROUP BY name)"

/* The schemas of 3.0 and of 4.1, which name and count differently: the latter has a row for each instance of
 * a counter. */
static const char *const queries[][2] = {
    [ROCPD_DISPATCHES] =
        {"SELECT name AS Kernel_Name, 'Agent ' || agent_abs_index AS Agent_Id, start AS Start_Timestamp,"
         " \"end\" AS End_Timestamp, grid_x AS Grid_Size_X, grid_y AS Grid_Size_Y, grid_z AS Grid_Size_Z,"
         " workgroup_x AS Workgroup_Size_X, workgroup_y AS Workgroup_Size_Y, workgroup_z AS Workgroup_Size_Z,"
         " vgpr_count AS VGPR_Count, accum_vgpr_count AS Accum_VGPR_Count, sgpr_count AS SGPR_Count,"
         " scratch_size AS Scratch_Size, lds_size AS LDS_Block_Size FROM kernels ORDER BY start, id",
         "SELECT name AS Kernel_Name, 'Agent ' || agent_absolute_index AS Agent_Id, start AS Start_Timestamp,"
         " \"end\" AS End_Timestamp, grid_x AS Grid_Size_X, grid_y AS Grid_Size_Y, grid_z AS Grid_Size_Z,"
         " workgroup_x AS Workgroup_Size_X, workgroup_y AS Workgroup_Size_Y, workgroup_z AS Workgroup_Size_Z,"
         " arch_vgpr_count AS VGPR_Count, accum_vgpr_count AS Accum_VGPR_Count, sgpr_count AS SGPR_Count,"
         " scratch_size AS Scratch_Size, lds_block_size AS LDS_Block_Size FROM kernels ORDER BY start, id"},
    [ROCPD_COUNTERS] =
        {"SELECT kernel_name AS Kernel_Name, counter_name AS Counter_Name, value AS Counter_Value"
         " FROM counters_collection",
         "SELECT name AS Kernel_Name, pmc_name AS Counter_Name, sum(pmc_value) AS Counter_Value"
         " FROM kernel_pmc_events GROUP BY guid, event_id, pmc_name"},
    /* Not of the view top_kernels, which cuts the average. An SQLite without sqrt leaves the deviation out.
     */
    [ROCPD_KERNELS] = {KERNELS(
                           " sqrt(abs(squares - TotalDurationNs * AverageNs) / max(Calls - 1, 1)) AS StdDev"),
                       KERNELS(" NULL AS StdDev")},
};

bool rocpd_is(const char *bytes, size_t len)
{
    return len > FORMAT_READ && memcmp(bytes, magic, sizeof magic) == 0;
}

/* A log of changes that was not written back would be another file, which nobody sent. */
static void read_without_log(struct buf *bytes)
{
    bytes->data[FORMAT_WRITE] = bytes->data[FORMAT_READ] = 1;
}

static void limit(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, VALUE_BYTES_MAX);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL); /* not without limit into files */
}

struct kept {
    json_t *rows;
    size_t bytes;
};

static int keep_row(void *arg, const struct query_row *row, struct err *err)
{
    struct kept *kept = arg;
    json_t *object = json_object();
    for (size_t i = 0; i < row->columns; i++)
        if (row->values[i]) {
            json_object_set_new(object, row->names[i], json_string(row->values[i]));
            kept->bytes += strlen(row->values[i]);
        }
    json_array_append_new(kept->rows, object);
    if (json_array_size(kept->rows) > ROWS_MAX)
        return err_set(err, ERR_INPUT, "more than %d rows: `rocpd convert` writes a part of them as CSV",
                       ROWS_MAX);
    return kept->bytes >> MIB_BITS < ROWS_MIB_MAX
               ? 0
               : err_set(err, ERR_INPUT, "more than %d MiB: `rocpd convert` writes a part of it as CSV",
                         ROWS_MIB_MAX);
}

static int read_rows(sqlite3 *db, enum rocpd_rows what, json_t *rows, struct err *err)
{
    struct store s = {.db = db, .mode = STORE_READ};
    struct kept kept = {.rows = rows};
    if (query_run(&s, queries[what][0], timeout_s, NULL, keep_row, &kept, err) == 0)
        return 0;
    if (!strstr(err->msg, "no such"))
        return -1;
    *err = (struct err){0};
    return query_run(&s, queries[what][1], timeout_s, NULL, keep_row, &kept, err);
}

json_t *rocpd_read(struct buf *bytes, enum rocpd_rows what, const char *file, struct err *err)
{
    sqlite3 *db = NULL;
    json_t *rows = json_array();
    int rc = -1;
    read_without_log(bytes);
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK ||
        sqlite3_deserialize(db, "main", (unsigned char *)bytes->data, (sqlite3_int64)bytes->len,
                            (sqlite3_int64)bytes->len, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
        err_set(err, ERR_INTERNAL, "SQLite: %s", sqlite3_errmsg(db));
    } else {
        limit(db);
        sqlite3_int64 before = sqlite3_hard_heap_limit64((sqlite3_int64)HEAP_MIB_MAX << MIB_BITS);
        rc = read_rows(db, what, rows, err);
        sqlite3_hard_heap_limit64(before);
    }
    sqlite3_close(db);
    if (rc == 0)
        return rows;
    json_decref(rows);
    err_wrap(err, "%s: not read as rocprofv3's database (rocpd)", file);
    return NULL;
}
