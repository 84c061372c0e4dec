/* 02_embed_prediction.c -- a model file inside another program
 *
 * Training and prediction need not meet: the model carries its preparation, so raw rows
 * go in and scores come out. A bad file is one sentence, never a crash. */
#include <fenchel/fenchel.h>
#include <stdio.h>
#include <stdlib.h>

static void check(fen_status status, const fen_error *err)
{
    if (status == FEN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void train(const char *path)
{
    fen_options o = fen_options_default();
    fen_error err;
    fen_table *table = NULL;
    fen_model *model = NULL;
    o.rows = 200;
    check(fen_options_set(&o, "lambda", "1e-4", &err), &err);
    check(fen_options_set(&o, "gamma", "mean", &err), &err);
    check(fen_table_generate("friedman", &o, &table, &err), &err);
    check(fen_fit(table, &o, NULL, &model, &err), &err);
    check(fen_model_save(model, path, &err), &err);
    fen_model_free(model);
    fen_table_free(table);
}

int main(void)
{
    const char *path = "embedded.fen";
    fen_error err;
    fen_model *model = NULL;
    train(path);

    check(fen_model_load(path, &model, &err), &err);
    printf("takes %d columns, predicts %s\n", (int)fen_model_inputs(model),
           fen_model_target_name(model, 0));
    const double row[10] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
    double score;
    check(fen_predict(model, (fen_view){ row, 1, 10, 10 }, NULL, NULL, &score, &err), &err);
    printf("the middle of the cube: about %.0f (without noise 14.57)\n", score);
    fen_model_free(model);

    if (fen_model_load("/dev/null", &model, &err) != FEN_OK) printf("refused: %s\n", err.message);
    remove(path);
    return 0;
}
