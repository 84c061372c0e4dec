/* cmd_convert.c -- fenchel convert: one data format into another, block by block */
#include <sys/stat.h>
#include "cli.h"

/* Of the file just written; 0: it cannot be read again (a pipe). */
static int64_t count_columns(const char *path)
{
    fen_options o = fen_options_default();
    fen_stream *stream = NULL;
    fen_table *block = NULL;
    struct stat info;
    int64_t most = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        fen_stream_open(path, &o, &stream, NULL))
        return 0;
    while (!fen_stream_next(stream, &block, NULL) && block) {
        int64_t columns = fen_table_columns(block);
        most = columns > most ? columns : most;
        fen_table_free(block);
        block = NULL;
    }
    fen_stream_close(stream);
    return most;
}

static int run(const request *r)
{
    const char *from = r->operand[0], *to = r->operand[1];
    fen_error err;
    int64_t rows = 0;
    int code = check_output(to, (const char *const[]){ from, NULL });
    if (code != EXIT_DONE) return code;
    if (fen_convert(from, to, NULL, &r->options, progress_begin(r->quiet), &rows, &err))
        return fail(&err);
    note_written(to);
    progress_end();
    return report_table(r, rows, r->json ? count_columns(to) : 0, to);
}

/* clang-format off */
static const char *const examples[] = {
    "CSV to NumPy", "fenchel convert train.csv train.npy",
    "svmlight with indices from 0, compressed, to CSV",
    "fenchel convert --index-base 0 news.svm.gz news.csv",
    NULL
};

const command command_convert = {
    .name = "convert", .operands = "IN OUT", .operand_count = 2,
    .summary = "one data format into another",
    .description = "Writes the rows of IN into OUT in the format that OUT's ending says "
                   "(.svm, .svmlight and .libsvm for LIBSVM's, .npy for NumPy's), else as CSV. "
                   "Memory does not grow with the file. The options tell how IN is to be read.",
    .examples = examples, .run = run,
};
/* clang-format on */
