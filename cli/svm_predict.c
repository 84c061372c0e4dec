/* svm_predict.c -- fenchel svm-predict: LIBSVM's command of that name */
#include <stdlib.h>
#include "svm.h"

typedef struct wishes {
    int32_t probability;
    int quiet;
    const char *test, *model, *output;
} wishes;

/* EXIT_DONE, or what svm_usage says. */
static int read_options(const command *c, int argc, const char **argv, wishes *w)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char letter = argv[i][1];
        if (letter == 'q')
            w->quiet = 1;
        else if (letter != 'b')
            return svm_usage(c, letter ? letter : ' ');
        else if (++i >= argc || !svm_integer(argv[i], &w->probability))
            return svm_usage(c, 0);
    }
    if (i + 3 > argc) return svm_usage(c, 0);
    w->test = argv[i];
    w->model = argv[i + 1];
    w->output = argv[i + 2];
    return EXIT_DONE;
}

static int has_numbers_for(const fen_svm *model, const wishes *w)
{
    if (w->probability && !fen_svm_has_probability(model)) {
        fputs("Model does not support probabiliy estimates\n", stderr); /* as LIBSVM spells it */
        return 0;
    }
    if (!w->probability && fen_svm_has_probability(model) && !w->quiet)
        puts("Model supports probability estimates, but disabled in prediction.");
    return 1;
}

/* The first line of the output, or what is said instead of it. */
static void put_heading(const fen_svm *model, const wishes *w, FILE *out)
{
    if (!w->probability) return;
    const int64_t classes = fen_svm_classes(model);
    if (fen_svm_type_of(model) == FEN_SVM_ONE_CLASS)
        fputs("labels normal outlier\n", out);
    else if (classes == 0 && !w->quiet)
        printf("Prob. model for test data: target value = predicted value + z,\n"
               "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g\n",
               fen_svm_sigma(model));
    if (classes > 0) fputs("labels", out);
    for (int64_t i = 0; i < classes; i++) fprintf(out, " %d", fen_svm_label(model, i));
    if (classes > 0) fputc('\n', out);
}

static void put_summary(const fen_svm *model, const svm_score *s)
{
    const double rows = (double)s->rows;
    const fen_svm_type type = fen_svm_type_of(model);
    if (type == FEN_SVM_EPSILON_SVR || type == FEN_SVM_NU_SVR)
        printf("Mean squared error = %g (regression)\n"
               "Squared correlation coefficient = %g (regression)\n",
               s->squares / rows, svm_score_correlation(s));
    else
        printf("Accuracy = %g%% (%lld/%lld) (classification)\n", (double)s->right / rows * 100.0,
               (long long)s->right, (long long)s->rows);
}

static int predict_rows(const fen_svm *model, const fen_svm_data *data, const wishes *w, FILE *out,
                        svm_score *score)
{
    fen_error err;
    const int one_class = fen_svm_type_of(model) == FEN_SVM_ONE_CLASS;
    const int64_t n = fen_svm_data_rows(data), classes = one_class ? 2 : fen_svm_classes(model);
    const int with = w->probability && classes > 0;
    double *predicted = calloc((size_t)n + 1, sizeof *predicted);
    double *law = with ? calloc((size_t)(n * classes) + 1, sizeof *law) : NULL;
    int code = EXIT_DONE;
    if (!predicted || (with && !law))
        code = svm_no_memory();
    else if (fen_svm_predict(model, data, 0, n, predicted, NULL, law, &err) != FEN_OK)
        code = svm_fail(&err);
    for (int64_t i = 0; i < n && code == EXIT_DONE; i++) {
        fprintf(out, "%.17g", predicted[i]);
        for (int64_t k = 0; law && k < classes; k++) fprintf(out, " %g", law[i * classes + k]);
        fputc('\n', out);
        svm_score_add(score, predicted[i], fen_svm_data_label(data, i));
    }
    free(predicted);
    free(law);
    return code;
}

static int read_model(const char *path, fen_svm **model)
{
    fen_error err;
    const fen_status status = fen_svm_load(path, model, &err);
    if (status == FEN_OK) return EXIT_DONE;
    if (status == FEN_MEMORY) return svm_fail(&err);
    if (status != FEN_IO) fprintf(stderr, "%s\nERROR: fscanf failed to read model\n", err.message);
    fprintf(stderr, "can't open model file %s\n", path);
    return SVM_FAILED;
}

/* As LIBSVM does: the rows before a wrong line are predicted. *keep: out holds what it should. */
static int predict_file(const wishes *w, FILE *out, int *keep)
{
    fen_error err;
    fen_svm *model = NULL;
    fen_svm_data *data = NULL;
    fen_status status = FEN_OK;
    svm_score score = { 0 };
    int code = read_model(w->model, &model);
    if (code == EXIT_DONE && !has_numbers_for(model, w)) code = SVM_FAILED;
    if (code == EXIT_DONE) put_heading(model, w, out);
    if (code == EXIT_DONE) status = fen_svm_data_read_part(w->test, &data, &err);
    if (code == EXIT_DONE && data) code = predict_rows(model, data, w, out, &score);
    *keep = code == EXIT_DONE && (status == FEN_OK || status == FEN_BAD_DATA);
    if (code == EXIT_DONE && status != FEN_OK) code = svm_fail(&err);
    if (code == EXIT_DONE && !w->quiet) put_summary(model, &score);
    fen_svm_data_free(data);
    fen_svm_free(model);
    return code;
}

static int run(const command *c, int argc, const char **argv)
{
    wishes w = { 0 };
    int code = read_options(c, argc, argv, &w);
    if (code != EXIT_DONE) return code;
    svm_wait_politely(w.test, w.model);
    FILE *in = fopen(w.test, "r"); /* is it there? */
    if (!in) {
        fprintf(stderr, "can't open input file %s\n", w.test);
        return SVM_FAILED;
    }
    fclose(in);
    sink out;
    if (sink_open(&out, w.output)) {
        fprintf(stderr, "can't open output file %s\n", w.output);
        return SVM_FAILED;
    }
    int keep = 0;
    code = predict_file(&w, out.stream, &keep);
    if (sink_close(&out, keep)) {
        fprintf(stderr, "can't write output file %s\n", w.output);
        code = SVM_FAILED;
    }
    return code;
}

static const char *const examples[] = { "predict the rows of a file with a model of svm-train",
                                        "fenchel svm-predict test.txt train.txt.model out.txt",
                                        "class probabilities",
                                        "fenchel svm-predict -b 1 test.txt train.txt.model out.txt",
                                        NULL };

const command command_svm_predict = {
    .name = "svm-predict",
    .operands = "[options] test_file model_file output_file",
    .summary = "as LIBSVM's svm-predict, on its files",
    .description = "Predicts the rows of a file in LIBSVM's format with a model file of LIBSVM or "
                   "of svm-train, and compares with their labels.",
    .options = "options:\n"
               "-b 0|1 : probabilities of the classes too, or of the noise of a regression "
               "(default 0)\n"
               "-q : quiet, print nothing\n",
    .examples = examples,
    .drop_in = run,
};
