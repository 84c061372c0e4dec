/* peak.c -- what a command costs: bench_peak OUT COMMAND...
 *
 * Runs COMMAND and writes {"seconds", "peak_bytes", "code"} to OUT. A program of its own,
 * because the kernel counts the memory of whoever starts a process as that of the process:
 * started from Python it would seem to need what Python needs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"

int main(int argc, char **argv)
{
    struct rusage usage;
    int state;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_peak OUT COMMAND...\n");
        return EXIT_FAILURE;
    }
    const double start = fenp_now();
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) < 0) {
        perror("bench_peak");
        return EXIT_FAILURE;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    fprintf(out, "{\"seconds\": %.6f, \"peak_bytes\": %lld, \"code\": %d}\n", fenp_now() - start,
            (long long)usage.ru_maxrss * 1024, WIFEXITED(state) ? WEXITSTATUS(state) : -1);
    return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
