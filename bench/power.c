/* power.c -- one fit with any engine, power and lambda
 *
 *     bench_power DATA GAMMA        jobs: ENGINE POWER LAMBDA, for example "spectral 1.5 1e-4"
 *
 * Everything in fen_fit is measured: scaling, kernel matrix, engine, root, certificate. An
 * engine may end with any verdict but "stalled". */
#include "worker.h"

typedef struct power_data {
    fen_options options;
    fen_table *table;
} power_data;

static double time_fit(const power_data *d, const fen_options *o)
{
    fen_model *model = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_fit(d->table, o, NULL, &model, &err), &err);
    const double seconds = fenp_now() - start;
    const fen_certificate proof = fen_model_certificate(model, 0);
    if (proof.verdict == FEN_VERDICT_STALLED) {
        fprintf(stderr, "the fit by %s stalled at a relative gap of %g\n", o->engine,
                proof.relative_gap);
        exit(EXIT_FAILURE);
    }
    fen_model_free(model);
    return seconds;
}

/* Unlike serve() of worker.h the jobs have no fixed names: they are settings. */
static int serve_settings(const power_data *d)
{
    char line[128], engine[32], power[32], lambda[32];
    fen_error err;
    while (fgets(line, sizeof line, stdin)) {
        fen_options o = d->options;
        if (sscanf(line, "%31s %31s %31s", engine, power, lambda) != 3) {
            fprintf(stderr, "a job is ENGINE POWER LAMBDA, not %s", line);
            return EXIT_FAILURE;
        }
        must(fen_options_set(&o, "engine", engine, &err), &err);
        must(fen_options_set(&o, "power", power, &err), &err);
        must(fen_options_set(&o, "lambda", lambda, &err), &err);
        printf("%.9f\n", time_fit(d, &o));
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    power_data d = { .options = fen_options_default() };
    fen_error err;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_power DATA GAMMA\n");
        return EXIT_FAILURE;
    }
    must(fen_options_set(&d.options, "gamma", argv[2], &err), &err);
    must(fen_table_read(argv[1], &d.options, NULL, &d.table, &err), &err);
    const int code = serve_settings(&d);
    fen_table_free(d.table);
    return code;
}
