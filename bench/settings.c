/* settings.c -- one fit, or one path, with any options
 *
 *     bench_settings DATA [NAME=VALUE...]     jobs: NAME=VALUE..., "path" for a path, with
 *                                             "to=FILE" its JSON is written there
 *
 * Everything in the call is measured: scaling, kernel values, engine, certificate. A fit may
 * end with any verdict but "stalled". */
#include "worker.h"

enum { LONGEST = 512 };

/* Options keep the text they are given, so each of these must outlive the call. */
static void set(fen_options *o, char *setting)
{
    fen_error err;
    char *value = strchr(setting, '=');
    if (!value) {
        fprintf(stderr, "a setting is NAME=VALUE, not %s\n", setting);
        exit(EXIT_FAILURE);
    }
    *value = '\0';
    must(fen_options_set(o, setting, value + 1, &err), &err);
}

static void write_text(const char *text, const char *path)
{
    FILE *file = fopen(path, "w");
    const int written = file && fputs(text, file) >= 0;
    if ((file && fclose(file) != 0) || !written) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(EXIT_FAILURE);
    }
}

static double time_path(const fen_table *table, const fen_options *o, const char *to)
{
    char *json = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_path(table, o, NULL, &json, &err), &err);
    const double seconds = fenp_now() - start;
    if (to) write_text(json, to);
    fen_text_free(json);
    return seconds;
}

static double time_fit(const fen_table *table, const fen_options *o)
{
    fen_model *model = NULL;
    fen_error err;
    const double start = fenp_now();
    must(fen_fit(table, o, NULL, &model, &err), &err);
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
static void serve_settings(const fen_table *table, const fen_options *common)
{
    char line[LONGEST];
    while (fgets(line, sizeof line, stdin)) {
        fen_options o = *common;
        int path = 0;
        const char *to = NULL;
        char *rest = line;
        for (char *word; (word = strtok_r(rest, " \n", &rest));)
            if (strcmp(word, "path") == 0)
                path = 1;
            else if (strncmp(word, "to=", 3) == 0)
                to = word + 3;
            else
                set(&o, word);
        printf("%.9f\n", path ? time_path(table, &o, to) : time_fit(table, &o));
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    fen_options common = fen_options_default();
    fen_table *table = NULL;
    fen_error err;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_settings DATA [NAME=VALUE...]\n");
        return EXIT_FAILURE;
    }
    for (int i = 2; i < argc; i++) set(&common, argv[i]);
    must(fen_table_read(argv[1], &common, NULL, &table, &err), &err);
    serve_settings(table, &common);
    fen_table_free(table);
    return EXIT_SUCCESS;
}
