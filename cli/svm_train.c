/* svm_train.c -- fenchel svm-train: LIBSVM's command of that name */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "svm.h"

typedef struct wishes {
    fen_svm_options o;
    fen_svm_weight *weights;
    int32_t shrinking, folds;
    int cross_validate, quiet;
    const char *data, *model;
    char *own_name; /* of the model, when none was given */
} wishes;

/* ---- what happens while training ----------------------------------------------------- */

static void tell_solved(const fen_svm_news *n)
{
    printf("*\noptimization finished, #iter = %lld\n", (long long)n->iterations);
    if (n->type == FEN_SVM_NU_SVC)
        printf("C = %f\n", n->price);
    else if (n->type == FEN_SVM_NU_SVR)
        printf("epsilon = %f\n", n->price);
    else if (n->type != FEN_SVM_ONE_CLASS && !isnan(n->price))
        printf("nu = %f\n", n->price);
    printf("obj = %f, rho = %f\nnSV = %lld, nBSV = %lld\n", n->objective, n->rho,
           (long long)n->support, (long long)n->bounded);
}

/* Warnings about the options go to stderr even when quiet. */
static void tell(void *user, const fen_svm_news *n)
{
    const wishes *w = user;
    if (n->event == FEN_SVM_NO_SUCH_CLASS)
        fprintf(stderr, "WARNING: class label %d specified in weight is not found\n", n->label);
    if (n->event == FEN_SVM_MANY_FOLDS)
        fputs("WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out "
              "cross validation)\n",
              stderr);
    if (n->event == FEN_SVM_FEW_DECISIONS)
        fputs("WARNING: number of positive or negative decision values <5; too few to do a "
              "probability estimation.\n",
              stderr);
    if (w->quiet) return;
    if (n->event == FEN_SVM_SOLVED) tell_solved(n);
    if (n->event == FEN_SVM_TOTAL) printf("Total nSV = %lld\n", (long long)n->support);
    if (n->event == FEN_SVM_ONE_CLASS_ONLY)
        puts("WARNING: training data in only one class. See README for details.");
    if (n->event == FEN_SVM_NOISE)
        printf("Prob. model for test data: target value = predicted value + z,\n"
               "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= %g\n",
               n->sigma);
    fflush(stdout);
}

/* ---- options ------------------------------------------------------------------------- */

static int add_weight(wishes *w, const char *label, const char *value)
{
    fen_svm_weight *one = w->weights + w->o.weight_count++;
    return svm_integer(label, &one->label) && svm_number(value, &one->weight);
}

static int read_folds(wishes *w, const char *value)
{
    w->cross_validate = 1;
    if (!svm_integer(value, &w->folds)) return 0;
    if (w->folds >= 2) return 1;
    fputs("n-fold cross validation: n must >= 2\n", stderr);
    return 0;
}

static int read_cache(wishes *w, const char *value)
{
    double megabytes;
    if (!svm_number(value, &megabytes)) return 0;
    w->o.cache_megabytes = megabytes > 0.0 ? megabytes : -1.0; /* 0 means something else to us */
    return 1;
}

static int read_code(const char *value, int32_t *code)
{
    if (!svm_integer(value, code)) return 0;
    if (*code < 0) *code = INT32_MAX; /* unknown, whatever the type of an enum is */
    return 1;
}

/* 1: done; 0: not a value of this option; -1: there is no such option. */
static int read_option(wishes *w, const char *option, const char *value)
{
    int32_t code = 0;
    int right;
    switch (option[1]) {
    case 's':
        right = read_code(value, &code);
        w->o.type = (fen_svm_type)code;
        return right;
    case 't':
        right = read_code(value, &code);
        w->o.kernel = (fen_svm_kernel)code;
        return right;
    case 'd': return svm_integer(value, &w->o.degree);
    case 'g': return svm_number(value, &w->o.gamma);
    case 'r': return svm_number(value, &w->o.coef0);
    case 'c': return svm_number(value, &w->o.cost);
    case 'n': return svm_number(value, &w->o.nu);
    case 'p': return svm_number(value, &w->o.epsilon);
    case 'm': return read_cache(w, value);
    case 'e': return svm_number(value, &w->o.tolerance);
    case 'h': return svm_integer(value, &w->shrinking);
    case 'b': return svm_integer(value, &w->o.probability);
    case 'v': return read_folds(w, value);
    case 'w': return add_weight(w, option + 2, value);
    default: return -1;
    }
}

static int read_options(const command *c, int argc, const char **argv, wishes *w)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (i + 1 >= argc) return svm_usage(c, 0);
        if (argv[i][1] == 'q') {
            w->quiet = 1;
            continue;
        }
        const int right = read_option(w, argv[i], argv[i + 1]);
        if (right <= 0) return svm_usage(c, right < 0 ? argv[i][1] : 0);
        i++;
    }
    if (i >= argc) return svm_usage(c, 0);
    w->data = argv[i];
    w->model = i + 1 < argc ? argv[i + 1] : NULL;
    w->o.weight = w->weights;
    return EXIT_DONE;
}

/* The name of the data without its folder, and ".model". */
static int name_model(wishes *w)
{
    if (w->model) return EXIT_DONE;
    const char *slash = strrchr(w->data, '/'), *name = slash ? slash + 1 : w->data;
    w->own_name = malloc(strlen(name) + sizeof ".model");
    if (!w->own_name) return svm_no_memory();
    sprintf(w->own_name, "%s.model", name);
    w->model = w->own_name;
    return EXIT_DONE;
}

/* ---- what is asked for --------------------------------------------------------------- */

static int cross_validate(const fen_svm_data *data, const wishes *w, const fen_host *host)
{
    fen_error err;
    svm_score score = { 0 };
    const int64_t n = fen_svm_data_rows(data);
    double *predicted = calloc((size_t)n + 1, sizeof *predicted);
    int code = predicted ? EXIT_DONE : SVM_FAILED;
    if (code == EXIT_DONE &&
        fen_svm_cross_validate(data, &w->o, w->folds, host, predicted, &err) != FEN_OK)
        code = svm_fail(&err);
    for (int64_t i = 0; i < n && code == EXIT_DONE; i++)
        svm_score_add(&score, predicted[i], fen_svm_data_label(data, i));
    free(predicted);
    if (code != EXIT_DONE) return code;
    if (w->o.type == FEN_SVM_EPSILON_SVR || w->o.type == FEN_SVM_NU_SVR)
        printf("Cross Validation Mean squared error = %g\n"
               "Cross Validation Squared correlation coefficient = %g\n",
               score.squares / (double)n, svm_score_correlation(&score));
    else
        printf("Cross Validation Accuracy = %g%%\n", 100.0 * (double)score.right / (double)n);
    return EXIT_DONE;
}

static int train(const fen_svm_data *data, const wishes *w, const fen_host *host)
{
    fen_error err;
    fen_svm *model = NULL;
    if (fen_svm_train(data, &w->o, host, &model, &err) != FEN_OK) return svm_fail(&err);
    const int saved = fen_svm_save(model, w->model, &err) == FEN_OK;
    fen_svm_free(model);
    if (saved) return EXIT_DONE;
    fprintf(stderr, "can't save model to file %s\n", w->model);
    return SVM_FAILED;
}

static int check(const fen_svm_data *data, const wishes *w)
{
    fen_error err;
    const fen_status status = fen_svm_check(data, &w->o, &err);
    if (status == FEN_BAD_DATA) return svm_fail(&err);
    if (status == FEN_OK && (w->shrinking < 0 || w->shrinking > 1))
        fputs("ERROR: shrinking != 0 and shrinking != 1\n", stderr);
    else if (status == FEN_OK)
        return EXIT_DONE;
    else
        fprintf(stderr, "ERROR: %s\n", err.message);
    return SVM_FAILED;
}

static int train_file(const wishes *w)
{
    fen_error err;
    fen_svm_data *data = NULL;
    svm_wait_politely(w->data, NULL);
    const fen_status status = fen_svm_data_read(w->data, &data, &err);
    if (status == FEN_IO) {
        fprintf(stderr, "can't open input file %s\n", w->data);
        return SVM_FAILED;
    }
    if (status != FEN_OK) return svm_fail(&err);
    int code = check(data, w);
    if (code == EXIT_DONE) {
        const fen_host *host = progress_begin(1);
        code = w->cross_validate ? cross_validate(data, w, host) : train(data, w, host);
        progress_end();
    }
    fen_svm_data_free(data);
    return code;
}

static int run(const command *c, int argc, const char **argv)
{
    wishes w = { .o = fen_svm_options_default(), .shrinking = 1 };
    w.weights = calloc((size_t)argc + 1, sizeof *w.weights);
    w.o.tell = tell;
    w.o.user = &w;
    int code = w.weights ? read_options(c, argc, argv, &w) : svm_no_memory();
    if (code == EXIT_DONE) code = name_model(&w);
    if (code == EXIT_DONE) code = train_file(&w);
    free(w.weights);
    free(w.own_name);
    return code;
}

static const char *const examples[] = { "a classifier with the gaussian kernel; train.txt.model",
                                        "fenchel svm-train -c 10 -g 0.5 train.txt",
                                        "how good it would be, by 5-fold cross-validation",
                                        "fenchel svm-train -c 10 -g 0.5 -v 5 train.txt",
                                        "regression",
                                        "fenchel svm-train -s 3 -p 0.1 train.txt my.model",
                                        NULL };

const command command_svm_train = {
    .name = "svm-train",
    .operands = "[options] training_set_file [model_file]",
    .summary = "as LIBSVM's svm-train, on its files",
    .description = "Trains a support vector machine on a file in LIBSVM's format and writes a "
                   "LIBSVM model file, which svm-predict of either reads.",
    .options =
        "options:\n"
        "-s type : which machine (default 0)\n"
        "        0  C-SVC, classes\n"
        "        1  nu-SVC, classes\n"
        "        2  one-class\n"
        "        3  epsilon-SVR, regression\n"
        "        4  nu-SVR, regression\n"
        "-t kernel : which kernel (default 2)\n"
        "        0  linear, u.v\n"
        "        1  polynomial, (gamma u.v + coef0)^degree\n"
        "        2  gaussian, exp(-gamma |u-v|^2)\n"
        "        3  sigmoid, tanh(gamma u.v + coef0)\n"
        "        4  precomputed, the values are in the file\n"
        "-d degree : of the polynomial (default 3)\n"
        "-g gamma : of the kernel (default 1 / largest index)\n"
        "-r coef0 : of the kernel (default 0)\n"
        "-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)\n"
        "-n nu : of nu-SVC, one-class and nu-SVR (default 0.5)\n"
        "-p epsilon : half the width of the tube of epsilon-SVR (default 0.1)\n"
        "-m megabytes : room for kernel values of more than 32 features (default 1000); 200 are "
        "taken in any case\n"
        "-e tolerance : how exactly to solve (default 0.001)\n"
        "-h 0|1 : accepted, changes nothing\n"
        "-b 0|1 : a model that can tell probabilities (default 0)\n"
        "-wi weight : C of class i is weight times C, for C-SVC (default 1)\n"
        "-v n : n-fold cross-validation instead of a model\n"
        "-q : quiet, print nothing\n",
    .examples = examples,
    .drop_in = run,
};
