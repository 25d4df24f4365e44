#include "executor/process/near.h"

#include "executor/workdir/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PREFERRED = 1, PREFERRED_MANY = 5, LINE_MAX_BYTES = 4096, NODES_MAX = 64 };

static bool parse_number(const char **at, unsigned long *out)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *out = strtoul(*at, &end, 10);
    *at = end;
    return *out < CPU_SETSIZE;
}

bool near_parse(const char *list, cpu_set_t *out)
{
    unsigned long first, last;
    CPU_ZERO(out);
    do {
        if (!parse_number(&list, &first))
            return false;
        last = first;
        if (*list == '-' && (list++, !parse_number(&list, &last)))
            return false;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, out);
    } while (*list++ == ',');
    return list[-1] == '\0' || list[-1] == '\n';
}

void near_init(struct near *n)
{
    *n = (struct near){.on = false};
    CPU_ZERO(&n->cpus);
}

bool near_add(struct near *n, const struct layout *l, const char *pci)
{
    char devices[FS_PATH_MAX], device[FS_PATH_MAX], line[LINE_MAX_BYTES];
    cpu_set_t cpus;
    if (fs_join(devices, NULL, l->sysfs, "bus/pci/devices") != 0 ||
        fs_join(device, NULL, devices, pci) != 0 ||
        !sysfile_line(device, "local_cpulist", line, sizeof line) || !near_parse(line, &cpus))
        return false;
    CPU_OR(&n->cpus, &n->cpus, &cpus);
    long node = sysfile_line(device, "numa_node", line, sizeof line) ? strtol(line, NULL, 10) : -1;
    if (node >= 0 && node < NODES_MAX)
        n->nodes |= 1ul << node;
    n->on = true;
    return true;
}

static void add_range(char *out, size_t first, size_t last)
{
    char word[32];
    size_t used = strlen(out);
    if (first == last)
        snprintf(word, sizeof word, "%zu", first);
    else
        snprintf(word, sizeof word, "%zu-%zu", first, last);
    if (used + strlen(word) + 6 < NEAR_TEXT_MAX)
        snprintf(out + used, NEAR_TEXT_MAX - used, "%s%s", used ? "," : "", word);
    else if (used > 0 && out[used - 1] != '.')
        snprintf(out + used, NEAR_TEXT_MAX - used, ",...");
}

static void describe(const cpu_set_t *cpus, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        size_t first = i;
        if (!CPU_ISSET(i, cpus))
            continue;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, cpus))
            i++;
        add_range(out, first, i);
    }
}

bool near_settle(struct near *n)
{
    cpu_set_t own;
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        n->on = false;
    CPU_AND(&n->cpus, &n->cpus, &own);
    n->on = n->on && CPU_COUNT(&n->cpus) > 0 && !CPU_EQUAL(&n->cpus, &own);
    if (n->on)
        describe(&n->cpus, n->text);
    return n->on;
}

void near_apply(const struct near *n, struct near_failure *out)
{
    *out = (struct near_failure){.cpus = 0};
    if (!n->on)
        return;
    if (sched_setaffinity(0, sizeof n->cpus, &n->cpus) != 0)
        out->cpus = errno;
    int mode = (n->nodes & (n->nodes - 1)) != 0 ? PREFERRED_MANY : PREFERRED;
    if (n->nodes != 0 && syscall(SYS_set_mempolicy, mode, &n->nodes, (unsigned long)NODES_MAX + 1) != 0)
        out->memory = errno;
}
