/* worker.h -- a program that measures what it is asked to
 *
 * A claim_*.py script writes the name of a job per line, the program does it and answers
 * with the seconds it took. So both sides of a ratio take turns within one run, each with
 * its data already in memory. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"

typedef struct job {
    const char *name;
    double (*seconds)(void *data);        /* does the job */
} job;

static inline void must(fen_status status, const fen_error *err)
{
    if (status == FEN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(EXIT_FAILURE);
}

/* A fit counts only if it is what it claims to be. */
static inline void release_optimal(fen_model *model)
{
    if (fen_model_certificate(model, 0).verdict != FEN_VERDICT_OPTIMAL) {
        fprintf(stderr, "the fit is not optimal\n");
        exit(EXIT_FAILURE);
    }
    fen_model_free(model);
}

static inline void *room(int64_t count, size_t size)
{
    void *memory = malloc((size_t)count * size);
    if (memory) return memory;
    fprintf(stderr, "out of memory for %lld x %zu bytes\n", (long long)count, size);
    exit(EXIT_FAILURE);
}

/* Answers until stdin ends. */
static inline int serve(const job *jobs, int count, void *data)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        int i = 0;
        while (i < count && strcmp(jobs[i].name, line) != 0) i++;
        if (i == count) {
            fprintf(stderr, "no such job: %s\n", line);
            return EXIT_FAILURE;
        }
        printf("%.9f\n", jobs[i].seconds(data));
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
#endif
