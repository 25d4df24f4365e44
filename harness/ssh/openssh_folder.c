#include "harness/ssh/openssh_folder.h"

#include "common/base/fs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAME "kernsweep-ssh."

/* Longer than a login takes, with a passphrase to be typed: until then there is no socket. */
static const time_t abandoned_after_s = 3600;

static bool listens(const char *dir)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n = snprintf(at.sun_path, sizeof at.sun_path, "%s/s", dir);
    int fd = n > 0 && (size_t)n < sizeof at.sun_path
                 ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                 : -1;
    if (fd < 0)
        return true; /* nobody knows */
    bool answers = connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return answers;
}

static bool is_abandoned(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           st.st_mtime < time(NULL) - abandoned_after_s && !listens(dir);
}

static void remove_abandoned(const char *parent)
{
    char path[FS_PATH_MAX];
    struct err ignored;
    DIR *d = opendir(parent);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, NAME, strlen(NAME)) == 0 && fs_join(path, NULL, parent, e->d_name) == 0 &&
            is_abandoned(path))
            fs_remove_tree(path, &ignored);
    if (d)
        closedir(d);
}

/* A socket's path is limited to about 100 bytes, so TMPDIR cannot be used when it is long. */
int openssh_folder_make(char dir[OPENSSH_DIR_MAX], struct err *err)
{
    const char *const parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        int n = parents[i] && parents[i][0] == '/'
                    ? snprintf(dir, OPENSSH_DIR_MAX, "%s/" NAME "XXXXXX", parents[i])
                    : -1;
        /* ssh expands % in the path, and appends a temporary suffix to it */
        if (n > 0 && n < OPENSSH_DIR_MAX && !strchr(dir, '%') && mkdtemp(dir)) {
            remove_abandoned(parents[i]);
            return 0;
        }
    }
    dir[0] = '\0';
    return err_set(err, ERR_STORAGE, "no folder for the ssh control socket could be made in /tmp");
}
