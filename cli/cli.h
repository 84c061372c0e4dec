/* cli.h -- what the files of the command-line tool share
 *
 * main.c finds a command in the table, arguments.c reads its options into a request,
 * the command's run answers with an exit code. Every failure is one sentence on stderr. */
#ifndef CLI_H
#define CLI_H
#include <jansson.h>
#include <stdio.h>
#include "fenchel/fenchel.h"

/* ---- exit codes: main.c holds the one map from fen_status, and their meanings ---- */
enum {
    EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_DATA = 3, EXIT_FILE = 4, EXIT_ROOM = 5,
    EXIT_INTERRUPTED = 130
};
typedef struct exit_code { int code; const char *meaning; } exit_code;
extern const exit_code exit_codes[];                   /* ends with a NULL meaning */
/* Print "fenchel: sentence" and hand back the exit code. */
int fail(const fen_error *err);
/* Of a model before its data: the two may be the wrong way round. */
int fail_to_load(const fen_error *err, const char *model, const char *data);
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- commands -------------------------------------------------------------------- */
typedef struct request request;
typedef struct command command;
struct command {
    const char *name;
    const char *operands;           /* "MODEL DATA": all of them are needed           */
    int         operand_count;
    const char *output;             /* argument of -o; NULL: there is no -o           */
    const char *output_help;
    const char *plot_help;          /* of --plot FILE; NULL: there is no --plot       */
    const char *summary;            /* one line                                       */
    const char *description;        /* paragraphs separated by newlines               */
    const char *const *examples;    /* what it does, how it is typed, ..., NULL       */
    const char *operand_list;       /* fen_list kind of the operand; NULL: files      */
    int       (*run)(const request *r);
    /* commands that read their words themselves */
    const char *options;            /* their text for --help and the manual           */
    int       (*drop_in)(const command *c, int argc, const char **argv);
};
extern const command *const commands[];                /* ends with NULL */
extern const command command_fit, command_predict, command_select, command_path, command_verify,
    command_plan, command_generate, command_convert, command_info, command_svm_train,
    command_svm_predict, command_svm_scale;
const command *find_command(const char *name);         /* NULL: unknown */

/* ---- requests -------------------------------------------------------------------- */
enum { OPERANDS_MAX = 2 };
struct request {
    const command *command;
    fen_options    options;
    const char    *operand[OPERANDS_MAX];
    const char    *output, *plot;   /* NULL: not given */
    int            json, quiet, help;
    int            power;           /* --power was given, be it the default */
    char           selecting[256];  /* the options given that select takes as well, as
                                       they would be typed; "" where they do not fit */
    char         **kept;            /* the strings that the fields above point at */
    int            kept_count;
};
/* An option that the tool adds to those of the library. */
typedef struct own_option {
    char        letter;             /* 0: none */
    const char *name, *help;
} own_option;
enum { OWN_JSON, OWN_QUIET, OWN_HELP, OWN_COUNT };
extern const own_option own_options[OWN_COUNT];
#define PLOT_ARGUMENT "FILE.svg"
/* argv[0] is the name of the command. Answers an exit code; anything but EXIT_DONE has
 * been said on stderr. request_free in any case. */
int  request_read(request *r, const command *c, int argc, const char **argv);
void request_free(request *r);
int  option_applies(const fen_option *o, const command *c);    /* is it one of o->commands? */
/* The name nearest to wrong among names (NULL-terminated), NULL if none is near. */
const char *nearest(const char *wrong, const char *const *names);

/* ---- help, man page and completion, all made from the two tables --------------------- */
enum { USAGE_MAX = 64 };
const char *usage_text(const command *c, char out[USAGE_MAX]);     /* "fit DATA [-o MODEL]" */
void print_overview(FILE *out);
int  print_command_help(const command *c, FILE *out);
int  print_manual(void);
int  print_completion(const char *shell);

/* Before threads are used: the program may start anew. */
void wait_politely(void);

/* ---- progress and interruption -------------------------------------------------------- */
void            signals_prepare(void);
const fen_host *progress_begin(int quiet);    /* one at a time */
void            progress_end(void);           /* clears the line; may be called twice */
int             interrupted(void);
void            note_written(const char *path);   /* it is in place: what fails later says so */
const char     *path_written(void);           /* "": none */

/* ---- terminal.c: stdout and stderr show control characters, which they do not send -------- */
extern FILE *data_out;                        /* for data: byte by byte, but not to a terminal */
extern FILE *plain_err;                       /* for the line of progress alone */
int  terminal_prepare(void);                  /* first of all; an exit code */
int  terminal_flush(void);                    /* nonzero: standard output was not written */
/* The whole of text on one line: its line breaks and tabs are not the tool's own. */
const char *printable(const char *text, char *out, size_t size);

/* ---- memory.c ------------------------------------------------------------------------- */

/* ---- files ------------------------------------------------------------------------------ */
/* DATA with its ending (and .gz) replaced by .fen; to be freed; NULL: out of memory. */
char *model_path(const char *data);
/* Can path be written, and is it none of the inputs (NULL-terminated)? Looked at before
 * the work begins: EXIT_DONE, or a complaint. */
int   check_output(const char *path, const char *const *inputs);
/* Commands that answer with JSON text about the table in the first operand, and may write to
 * r->output: reads, asks, and hands the text to answer, whose exit code is returned. */
typedef fen_status (*question)(const fen_table *, const fen_options *, const fen_host *, char **,
                               fen_error *);
int   run_question(const request *r, question ask,
                   int (*answer)(const request *r, const char *text));
/* A text file that appears whole or not at all (fen_sink); path NULL or "-": standard output. */
typedef struct sink {
    FILE       *stream;
    fen_sink   *file;                         /* NULL: standard output */
    fen_error   err;                          /* of either call below, and of writes between */
} sink;
fen_status sink_open(sink *s, const char *path);
fen_status sink_close(sink *s, int keep);     /* keep 0: the file is as it was */

/* ---- output ----------------------------------------------------------------------------- */
json_t *json_number(double value);            /* infinities and NaN as null */
json_t *json_numbers(const double *values, int64_t count);      /* one number, or an array */
json_t *json_text(const char *text);           /* bytes that are not UTF-8 become '?' */
json_t *json_parse(const char *text);         /* NULL: complained */
json_t *model_json(const fen_model *model);   /* of fen_model_json; NULL: complained */
int     json_print(json_t *object);           /* one line on stdout; takes the reference */
double  json_at(const json_t *object, const char *key);         /* NaN: not there */
/* Entry i of an array, or the value itself where there is one target. */
double  json_at_target(const json_t *object, const char *key, int64_t i);
const char *json_text_at(const json_t *object, const char *key);   /* "": not there */
const char *shortest(double value, char out[32]);      /* reads back as the same double */
const char *shell_word(const char *text, char *out, size_t size);  /* in quotes if need be */
void    csv_name(FILE *out, const char *prefix, const char *name);   /* quoted if need be */
void    csv_number(FILE *out, double value, char end);  /* infinities and NaN: empty */
const char *bytes_text(double bytes, char out[32]);    /* "1.3 GB" */
const char *seconds_text(double seconds, char out[32]);
/* A data file was written: its size as JSON or in a line. columns 0: not known. */
int     report_table(const request *r, int64_t rows, int64_t columns, const char *path);
void    print_wrapped(FILE *out, const char *label, const char *text);
/* rank.c: 0 .. count - 1 by size, the largest first; to be freed; NULL: out of memory. */
int64_t *largest_first(int64_t count, double (*size)(const void *of, int64_t k), const void *of);
#endif
