/* clock.c -- time, limits, progress and cancellation
 *
 * Memory still to be had is the least of MemAvailable and, for our control group and
 * each of its parents, limit - (usage - file cache that would be given back). Files
 * are read into the stack: the question must be answerable when memory is short. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"

double fenp_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

fenp_task fenp_task_start(const fen_host *host, double time_limit_seconds)
{
    double deadline = time_limit_seconds > 0 ? fenp_now() + time_limit_seconds : 0;
    return (fenp_task){ host, "", 0, 1, deadline };
}

fenp_task fenp_task_part(const fenp_task *task, const char *stage, double a, double b)
{
    if (!task) return (fenp_task){ NULL, stage, a, b, 0 };
    double length = task->to - task->from;
    return (fenp_task){ task->host, stage, task->from + a * length, task->from + b * length,
                        task->deadline };
}

fen_status fenp_task_at(const fenp_task *task, double fraction, fen_error *err)
{
    if (!task) return FEN_OK;
    const char *space = task->stage[0] ? " during: " : "";
    double whole = task->from + fraction * (task->to - task->from);
    if (task->host && task->host->progress &&
        task->host->progress(task->host->user, task->stage, whole) != 0)
        return fenp_fail(err, FEN_STOPPED, "stopped by the caller%s%s", space, task->stage);
    if (task->deadline > 0 && fenp_now() > task->deadline)
        return fenp_fail(err, FEN_LIMIT, "the time limit was reached%s%s", space, task->stage);
    return FEN_OK;
}

void fenp_task_leaves_model(const fenp_task *task)
{
    if (task && task->host && task->host->leaves_model) *task->host->leaves_model = 1;
}

static int share_progress(void *user, const char *stage, double fraction)
{
    const fenp_share *s = user;
    if (!s->host || !s->host->progress) return 0;
    return s->host->progress(s->host->user, stage, s->from + fraction * (s->to - s->from));
}

void fenp_share_open(fenp_share *share, const fen_host *host, double from, double to)
{
    *share =
        (fenp_share){ { share_progress, share, host ? host->leaves_model : NULL }, host, from, to };
}

static int hear(void *user, const char *stage, double fraction)
{
    const fenp_team *t = user;
    (void)stage, (void)fraction;
    return t->stopped;
}

static int speak(void *user, const char *stage, double fraction)
{
    const fenp_team *t = user;
    const fen_host *host = t->task ? t->task->host : NULL;
    if (t->stopped) return 1;
    return host && host->progress ? host->progress(host->user, stage, fraction) : 0;
}

fenp_task fenp_team_task(fenp_team *team, int speaks, fen_host *host)
{
    fenp_task own = team->task ? *team->task : fenp_task_part(NULL, "", 0.0, 1.0);
    *host = (fen_host){ .progress = speaks ? speak : hear, .user = team };
    own.host = host;
    return own;
}

/* --- memory ------------------------------------------------------------------- */

/* The beginning of a small file as text; "" if it cannot be read. */
static void slurp(const char *path, char *out, size_t size)
{
    size_t used = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && used < size - 1) {
        ssize_t got = read(file, out + used, size - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    if (file >= 0) close(file);
    out[used] = '\0';
}

/* The digits at the start of text, blanks skipped; -1 if there are none. */
static int64_t digits(const char *text)
{
    text += strspn(text, " \t");
    if (*text < '0' || *text > '9') return -1;
    int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value))
            return INT64_MAX;
    return value;
}

/* The number after a word that begins a line; -1 if there is none. */
static int64_t number_after(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0) return digits(line + length);
    }
    return -1;
}

static int64_t file_number(const char *folder, const char *name, const char *word)
{
    char path[1200], text[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    slurp(path, text, sizeof text);
    return word ? number_after(text, word) : digits(text);
}

/* The names differ between the two versions of control groups. */
typedef struct group_files {
    const char *root, *line, *limit, *usage, *cache;
} group_files;
static const group_files versions[] = {
    { "/sys/fs/cgroup", "0::", "memory.max", "memory.current", "inactive_file" },
    { "/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes", "memory.usage_in_bytes",
      "total_inactive_file" },
};

static int64_t group_room(const group_files *version, const char *folder)
{
    int64_t limit = file_number(folder, version->limit, NULL);
    if (limit < 0 || limit > INT64_MAX / 2) /* "max", or no such folder; what none is told as */
        return INT64_MAX;
    int64_t usage = file_number(folder, version->usage, NULL);
    if (usage < 0) return INT64_MAX;
    int64_t cache = file_number(folder, "memory.stat", version->cache);
    int64_t used = cache > 0 && cache < usage ? usage - cache : usage;
    return limit > used ? limit - used : 0;
}

/* Least room of our group and its parents. In a container the path may be the
 * host's and not exist here; the walk then ends at the root, which is the container's. */
static int64_t version_room(const group_files *version, const char *groups)
{
    const char *path = strstr(groups, version->line);
    if (!path) return INT64_MAX;
    path += strlen(version->line);
    char folder[1100];
    snprintf(folder, sizeof folder, "%s%.*s", version->root, (int)strcspn(path, "\n"), path);
    size_t root = strlen(version->root);
    int64_t least = INT64_MAX;
    for (;;) {
        int64_t room = group_room(version, folder);
        least = room < least ? room : least;
        char *slash = strrchr(folder, '/');
        if (slash < folder + root) return least;
        *slash = '\0';
    }
}

int64_t fenp_memory_available(void)
{
    int64_t kilobytes = file_number("/proc", "meminfo", "MemAvailable:");
    int64_t least = kilobytes >= 0 && kilobytes < INT64_MAX / 1024 ? kilobytes * 1024 : INT64_MAX;
    char groups[4096];
    slurp("/proc/self/cgroup", groups, sizeof groups);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        int64_t room = version_room(&versions[i], groups);
        least = room < least ? room : least;
    }
    return least;
}

int64_t fenp_memory_resident(void)
{
    char text[256];
    slurp("/proc/self/statm", text, sizeof text);
    const char *second = text + strcspn(text, " ");
    int64_t pages = digits(second), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages * page : 0;
}
