/* progress.c -- one line on a terminal, and what Ctrl-C does
 *
 * SIGINT, SIGTERM and SIGHUP are the same to us. The first one sets a flag that the progress
 * callback hands to the library, which stops after the step at hand. Where a stop leaves a model,
 * the tool waits for it. Where it leaves nothing there is nothing to wait for: after PATIENCE the
 * process ends with exit code 130, in the middle of whatever does not ask (an eigendecomposition,
 * a pipe that says nothing). A second signal ends it at once by its default action. Files are
 * written by fen_sink, which leaves none half done however the process ends.
 * Signals that were ignored at the start stay so (nohup; background jobs of a shell).
 * SIGXFSZ is ignored so that a full quota is a failed write with a sentence. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

enum { PATIENCE = 600 }; /* milliseconds: one second, less what ending a process takes */

static volatile sig_atomic_t stop_asked, written;
static char last_written[1024];
static timer_t patience;

static struct {
    fen_host host;
    volatile int leaves_model; /* set by the library */
    int quiet;                 /* --quiet: errors alone */
    int visible;               /* stderr is a terminal and nobody said --quiet */
    int on_line;               /* something stands on the line */
    double started, last;
} state;

/* The handlers call nothing but async-signal-safe functions. */

static void put_line(const char *text)
{
    if (state.on_line && write(STDERR_FILENO, "\n", 1) < 0) return; /* nowhere to say it */
    state.on_line = 0;
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void on_stop(int number)
{
    if (stop_asked) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    stop_asked = 1;
    timer_settime(patience, 0, &(struct itimerspec){ .it_value.tv_nsec = PATIENCE * 1000000L },
                  NULL);
    if (!state.quiet)
        put_line("fenchel: stopping after this step; press Ctrl-C again to stop at once\n");
}

static void on_impatience(int number)
{
    (void)number;
    if (state.leaves_model) return;
    put_line(written ? "fenchel: interrupted; what was written is whole\n"
                     : "fenchel: interrupted; nothing was written\n");
    _exit(EXIT_INTERRUPTED);
}

int interrupted(void) { return stop_asked; }

void note_written(const char *path)
{
    snprintf(last_written, sizeof last_written, "%s", path);
    written = 1;
}

const char *path_written(void) { return last_written; }

void signals_prepare(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
    struct sigaction impatience = { .sa_handler = on_impatience, .sa_flags = SA_RESTART }, before;
    sigemptyset(&stop.sa_mask);
    sigemptyset(&impatience.sa_mask);
    sigaction(SIGALRM, &impatience, NULL);
    (void)timer_create(CLOCK_MONOTONIC, NULL, &patience);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(stops[i], &stop, NULL);
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
    fprintf(plain_err, "\r\033[K%3.0f%%  %s", 100 * fraction, stage);
    double left = passed * (1 - fraction) / fraction;
    if (fraction > 0.05 && passed > 2 && left > 1) { /* before that it is a guess */
        char text[32];
        fprintf(plain_err, ", %s left", seconds_text(left, text));
    }
    fflush(plain_err);
    return 0;
}

const fen_host *progress_begin(int quiet)
{
    state.leaves_model = 0;
    state.host = (fen_host){ .progress = on_progress, .leaves_model = &state.leaves_model };
    state.quiet = quiet;
    state.visible = !quiet && isatty(STDERR_FILENO);
    state.started = now();
    state.last = 0;
    return &state.host;
}

void progress_end(void)
{
    if (state.on_line) fputs("\r\033[K", plain_err);
    state.on_line = 0;
    state.visible = 0;
}
