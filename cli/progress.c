/* progress.c -- one line on a terminal, and what Ctrl-C does
 *
 * The first SIGINT or SIGTERM sets a flag that the progress callback hands to the
 * library: it stops after the step at hand. The second one removes the file that was
 * being written and ends the process by its default action.
 * SIGXFSZ is ignored so that a full quota is a failed write with a sentence. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

static volatile sig_atomic_t stop_asked;
static char unfinished[4096]; /* path to remove if the process is ended; "": none */

static struct {
    fen_host host;
    int visible; /* stderr is a terminal and nobody said --quiet */
    int on_line; /* something stands on the line */
    double started, last;
} state;

static void on_stop(int number) /* calls nothing but async-signal-safe functions */
{
    static const char text[] =
        "fenchel: stopping after this step; press Ctrl-C again to stop at once\n";
    if (stop_asked) {
        if (unfinished[0]) unlink(unfinished);
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    stop_asked = 1;
    if (state.on_line && write(STDERR_FILENO, "\n", 1) < 0) return; /* nowhere to say it */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

void remove_when_ended(const char *path)
{
    size_t length = strlen(path);
    unfinished[0] = '\0';
    if (length < sizeof unfinished) { /* first character last: never half a name */
        memcpy(unfinished + 1, path + (length > 0), length);
        unfinished[0] = path[0];
    }
}

int interrupted(void) { return stop_asked; }

void signals_prepare(void)
{
    struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
    sigemptyset(&stop.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int on_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    double time = now(), passed = time - state.started;
    if (!state.visible || passed < 0.3 || time - state.last < 0.1 || stop_asked) return stop_asked;
    state.last = time;
    state.on_line = 1;
    fprintf(stderr, "\r\033[K%3.0f%%  %s", 100 * fraction, stage);
    double left = passed * (1 - fraction) / fraction;
    if (fraction > 0.05 && passed > 2 && left > 1) { /* before that it is a guess */
        char text[32];
        fprintf(stderr, ", %s left", seconds_text(left, text));
    }
    fflush(stderr);
    return 0;
}

const fen_host *progress_begin(int quiet)
{
    state.host = (fen_host){ on_progress, NULL };
    state.visible = !quiet && isatty(STDERR_FILENO);
    state.started = now();
    state.last = 0;
    return &state.host;
}

void progress_end(void)
{
    if (state.on_line) fputs("\r\033[K", stderr);
    state.on_line = 0;
    state.visible = 0;
}
