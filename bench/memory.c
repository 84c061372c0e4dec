/* memory.c -- how much a fit adds to a process that holds its data
 *
 *     bench_memory DATA GAMMA LAMBDA
 *
 * Prints {"n", "before_bytes", "peak_bytes"}: resident before the fit, and at the worst
 * moment of it (VmHWM). One fit per process, since memory once taken stays mapped. */
#include <inttypes.h>
#include "worker.h"

static int64_t peak_bytes(void)
{
    char line[256];
    int64_t kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtoll(line + 6, NULL, 10);
    if (status) fclose(status);
    return kilobytes * 1024;
}

/* The peak from here on, not that of reading the file. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

int main(int argc, char **argv)
{
    fen_options o = fen_options_default();
    fen_table *table = NULL;
    fen_model *model = NULL;
    fen_error err;
    if (argc != 4) {
        fprintf(stderr, "usage: bench_memory DATA GAMMA LAMBDA\n");
        return EXIT_FAILURE;
    }
    must(fen_options_set(&o, "gamma", argv[2], &err), &err);
    must(fen_options_set(&o, "lambda", argv[3], &err), &err);
    must(fen_table_read(argv[1], &o, NULL, &table, &err), &err);
    forget_peak();
    const int64_t before = fenp_memory_resident();
    must(fen_fit(table, &o, NULL, &model, &err), &err);
    printf("{\"n\": %" PRId64 ", \"before_bytes\": %" PRId64 ", \"peak_bytes\": %" PRId64 "}\n",
           fen_table_rows(table), before, peak_bytes());
    fen_model_free(model);
    fen_table_free(table);
    return EXIT_SUCCESS;
}
