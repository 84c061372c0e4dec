/* consumer.c -- uses the installed library through its public header alone: fits a curve, and
 * checks that the header and the library are of the same version */
#include <fenchel/fenchel.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    fen_error err = { FEN_OK, "" };
    fen_options o = fen_options_default();
    fen_table *data = NULL;
    fen_model *model = NULL;
    o.rows = 60;
    int ok = strcmp(fen_version(), FEN_VERSION) == 0 &&
             fen_table_generate("sinc", &o, &data, &err) == FEN_OK &&
             fen_fit(data, &o, NULL, &model, &err) == FEN_OK &&
             fen_model_certificate(model, 0).verdict == FEN_VERDICT_OPTIMAL;
    printf("fenchel %s: %s%s\n", fen_version(), ok ? "a certified fit" : "failed ", err.message);
    fen_model_free(model);
    fen_table_free(data);
    return ok ? 0 : 1;
}
