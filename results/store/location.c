#include "results/store/location.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The numbers are those of statfs(2); linux/magic.h lacks many. */
static const struct {
    unsigned type;
    const char *name;
} networks[] = {{0x6969, "NFS"},          {0x517b, "SMB"},          {0xff534d42, "SMB (cifs)"},
                {0xfe534d42, "SMB"},      {0x0bd00bd0, "Lustre"},   {0x65735546, "FUSE"},
                {0x01021997, "9p"},       {0x00c36400, "Ceph"},     {0x47504653, "GPFS"},
                {0x5346414f, "AFS"},      {0x6b414653, "AFS"},      {0x73757245, "Coda"},
                {0x7461636f, "OCFS2"},    {0x01161970, "GFS2"},     {0x19830326, "BeeGFS"},
                {0xaad7aaea, "PanFS"},    {0x786f4256, "vboxsf"},   {0xbacbacbc, "vmhgfs"},
                {0x6a656a63, "virtiofs"}, {0x47504c50, "OrangeFS"}, {0x20030528, "OrangeFS"}};

/* Mount options by which locks stay on one machine. */
static const char *const local_locks[] = {"nolock", "local_lock=all", "local_lock=posix", "localflock",
                                          "nobrl"};

static void folder_of(const char *path, char *out)
{
    fs_parent(path, out);
    while (!fs_exists(out) && strcmp(out, "/") != 0 && strcmp(out, ".") != 0) {
        AUTO_FREE char *below = xstrdup(out);
        fs_parent(below, out);
    }
}

const char *location_network(const char *path)
{
    char folder[FS_PATH_MAX];
    struct statfs fs;
    folder_of(path, folder);
    if (statfs(fs_exists(path) ? path : folder, &fs) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if ((unsigned)fs.f_type == networks[i].type)
            return networks[i].name;
    return NULL;
}

bool location_is_shared(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & 0044);
}

/* Root of a container, say, is no other user than the one who started it; owners that it does not know have
 * this number there. */
bool location_is_foreign(const char *path)
{
    enum { UNKNOWN_USER = 65534 };
    struct stat st;
    return stat(path, &st) == 0 && st.st_uid != geteuid() && (geteuid() != 0 || st.st_uid == UNKNOWN_USER);
}

bool location_unfinished(const char *path, const char *end, char file[LOCATION_FILE_MAX])
{
    char real[PATH_MAX]; /* SQLite has it beside what a link leads to */
    struct stat st;
    snprintf(file, LOCATION_FILE_MAX, "%s%s", realpath(path, real) ? real : path, end);
    return stat(file, &st) == 0 && st.st_size > 0;
}

/* Byte 18 of the file says what writing it takes: 2 is a log. SQLite reads it: closing a descriptor of our
 * own would drop the locks that this process's connections hold, and the next to close the store would remove
 * their log. */
bool location_has_log(const char *path)
{
    char version = 0;
    sqlite3 *db = NULL;
    sqlite3_file *file = NULL;
    bool read = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
                file->pMethods && file->pMethods->xRead(file, &version, 1, 18) == SQLITE_OK;
    sqlite3_close(db);
    return read && version == 2;
}

static bool has_word(const char *line, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = line; (at = strstr(at, word)); at += len)
        if (at > line && strchr(" ,", at[-1]) && strchr(" ,\n", at[len]))
            return true;
    return false;
}

/* The mount option by which locks stay on this machine, or NULL. */
static const char *local_locks_of(dev_t device)
{
    AUTO_FCLOSE FILE *f = fopen("/proc/self/mountinfo", "re");
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    unsigned major_id, minor_id;
    while (f && getline(&line, &cap, f) > 0) {
        if (sscanf(line, "%*d %*d %u:%u", &major_id, &minor_id) != 2 || makedev(major_id, minor_id) != device)
            continue;
        for (size_t i = 0; i < sizeof local_locks / sizeof *local_locks; i++)
            if (has_word(line, local_locks[i]))
                return local_locks[i];
    }
    return NULL;
}

static int refuse(const char *path, const char *fs, const char *why, struct err *err)
{
    return err_set(
        err, ERR_STORAGE,
        "%s: on %s, where locks between machines do not work (%s): runs would be lost; name a store on a "
        "local disk with --db, or have it mounted with locks",
        path, fs, why);
}

/* On a file of its own: closing the store's file would drop the locks of other connections to it. */
int location_try_locks(const char *path, const char *fs, struct err *err)
{
    char name[FS_PATH_MAX + 32];
    struct stat st;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(name, sizeof name, "%s.lock.XXXXXX", path);
    AUTO_CLOSE int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot try locks", name);
    int failed = fcntl(fd, F_SETLK, &lock) != 0 ? errno : 0;
    const char *option = fstat(fd, &st) == 0 ? local_locks_of(st.st_dev) : NULL;
    unlink(name);
    if (failed)
        return refuse(path, fs, strerror(failed), err);
    return option ? refuse(path, fs, option, err) : 0;
}

static void name_user(uid_t uid, char name[LOCATION_USER_MAX])
{
    const struct passwd *user = getpwuid(uid);
    if (user)
        snprintf(name, LOCATION_USER_MAX, "%.60s", user->pw_name);
    else
        snprintf(name, LOCATION_USER_MAX, "%u", (unsigned)uid);
}

void location_owner(const char *path, bool of_folder, char name[LOCATION_USER_MAX])
{
    char real[PATH_MAX], folder[FS_PATH_MAX];
    struct stat st;
    fs_parent(realpath(path, real) ? real : path, folder);
    snprintf(name, LOCATION_USER_MAX, "?");
    if (stat(of_folder ? folder : path, &st) == 0)
        name_user(st.st_uid, name);
}

enum location_bar location_bar(const char *path)
{
    struct stat st;
    if (access(path, W_OK) != 0 && errno == EROFS)
        return LOCATION_READ_ONLY;
    if (stat(path, &st) != 0 || (st.st_uid != geteuid() && geteuid() != 0) || location_is_foreign(path))
        return LOCATION_FOREIGN;
    return st.st_mode & 0200 ? LOCATION_MARKED : LOCATION_OWN_MODE;
}

/* Returns another process that holds a lock of that kind (READ or WRITE) on the file, or 0. */
static pid_t find_holder(const char *path, const char *kind)
{
    AUTO_FCLOSE FILE *f = fopen("/proc/locks", "re");
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    struct stat st;
    if (!f || stat(path, &st) != 0)
        return 0;
    while (getline(&line, &cap, f) > 0) {
        char how[8];
        int pid;
        unsigned major_id, minor_id;
        unsigned long inode;
        if (sscanf(line, "%*d: POSIX %*s %7s %d %x:%x:%lu", how, &pid, &major_id, &minor_id, &inode) == 5 &&
            strcmp(how, kind) == 0 && pid > 0 && pid != getpid() && inode == st.st_ino &&
            makedev(major_id, minor_id) == st.st_dev)
            return pid;
    }
    return 0;
}

/* Whoever writes is in the way of everybody; whoever only reads is in the way of those who write. */
bool location_holder(const char *path, char out[LOCATION_HOLDER_MAX])
{
    char shm[LOCATION_FILE_MAX], file[64], user[LOCATION_USER_MAX], shown[64];
    AUTO(buf_release) struct buf name = {.max = 64};
    location_unfinished(path, "-shm", shm);
    pid_t pid = find_holder(shm, "WRITE");
    pid = pid ? pid : find_holder(path, "WRITE");
    pid = pid ? pid : find_holder(path, "READ");
    snprintf(file, sizeof file, "/proc/%d/comm", (int)pid);
    if (!pid || fs_read_file(file, 64, &name, NULL) != 0)
        return false;
    location_owner(file, false, user);
    text_printable_fixed(shown, sizeof shown, buf_str(&name), strcspn(buf_str(&name), "\n"));
    snprintf(out, LOCATION_HOLDER_MAX, "process %d of user %s (%s)", (int)pid, user, shown);
    return true;
}

/* Some network file systems give all files to one user, whoever makes them. */
static bool is_own(const char *folder, const char *path)
{
    char beside[FS_PATH_MAX];
    struct stat st, other;
    fs_parent(path, beside);
    if (stat(folder, &st) != 0)
        return false;
    return st.st_uid == geteuid() ||
           (location_network(folder) && (stat(path, &other) == 0 || stat(beside, &other) == 0) &&
            st.st_uid == other.st_uid && access(folder, R_OK | W_OK | X_OK) == 0);
}

/* What other users put there would be believed, or could not be written beside. */
int location_own(const char *path, const char *name, char *out, struct err *err)
{
    char of_user[64], plain[FS_PATH_MAX], user[LOCATION_USER_MAX];
    snprintf(of_user, sizeof of_user, "%.32s.%u", name, (unsigned)geteuid());
    if (fs_beside(path, name, plain, err) != 0 || fs_beside(path, of_user, out, err) != 0)
        return -1;
    if (!fs_exists(out) && (!fs_exists(plain) || is_own(plain, path)))
        return fs_beside(path, name, out, err);
    if (!fs_exists(out) || is_own(out, path))
        return 0;
    location_owner(out, false, user);
    return err_set(err, ERR_STORAGE,
                   "%s: belongs to user %s: ask them to remove it, or name another store with --db", out,
                   user);
}

static int fail_foreign(const char *file, const struct stat *st, bool written, struct err *err)
{
    char name[LOCATION_USER_MAX];
    name_user(st->st_uid, name);
    return err_set(err, ERR_STORAGE, "%s: belongs to user %s, who %s", file, name,
                   written ? "wrote to the store: ask them to run `kernsweep db check` on it"
                           : "read the store: ask them to remove it");
}

int location_clear(const char *path, struct err *err)
{
    static const char *const ends[] = {"-wal", "-shm"};
    char real[PATH_MAX], file[PATH_MAX + 8];
    struct stat st;
    if (!realpath(path, real))
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(file, sizeof file, "%s%s", real, ends[i]);
        if (lstat(file, &st) != 0 || st.st_uid == geteuid() || access(file, W_OK) == 0)
            continue;
        if (i == 0 && st.st_size > 0)
            return fail_foreign(file, &st, true, err);
        if (unlink(file) != 0 && errno != ENOENT)
            return fail_foreign(file, &st, false, err);
    }
    return 0;
}
