/* csv.c -- a file into a table: bench_csv FILE        job: read */
#include "worker.h"

static double time_read(void *path)
{
    const fen_options o = fen_options_default();
    fen_table *table = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_table_read(path, &o, NULL, &table, &err), &err);
    const double seconds = fenp_now() - start;
    fen_table_free(table);
    return seconds;
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "read", time_read } };
    if (argc != 2) {
        fprintf(stderr, "usage: bench_csv FILE\n");
        return EXIT_FAILURE;
    }
    return serve(jobs, 1, argv[1]);
}
