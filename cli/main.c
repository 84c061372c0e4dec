/* main.c -- finds the command and turns what it says into an exit code
 *
 * SIGPIPE keeps its default action: `fenchel generate friedman | head` ends silently,
 * as cat does. Any other failure to write stdout is exit code 4. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

/* clang-format off */
const command *const commands[] = {
    &command_fit, &command_predict, &command_select, &command_path, &command_verify,
    &command_plan, &command_generate, &command_convert, &command_info, &command_svm_train,
    &command_svm_predict, &command_svm_scale, NULL
};

const exit_code exit_codes[] = {
    { EXIT_DONE,        "done" },
    { EXIT_NO,          "the answer is no: a certificate does not hold, or a limit came first" },
    { EXIT_USAGE,       "wrong usage" },
    { EXIT_DATA,        "bad data" },
    { EXIT_FILE,        "a file cannot be read or written" },
    { EXIT_ROOM,        "would not fit in memory" },
    { EXIT_INTERRUPTED, "interrupted; an iterative fit saves its model so far, once all is chosen" },
    { 0, NULL }
};

static const int exit_of_status[FEN_STATUS_COUNT] = {
    [FEN_OK] = EXIT_DONE,       [FEN_BAD_CALL] = EXIT_USAGE, [FEN_BAD_DATA] = EXIT_DATA,
    [FEN_IO] = EXIT_FILE,       [FEN_MEMORY] = EXIT_ROOM,    [FEN_STOPPED] = EXIT_INTERRUPTED,
    [FEN_LIMIT] = EXIT_NO,
};
/* clang-format on */

int complain(int code, const char *format, ...)
{
    char text[4096], shown[4096], path[1024];
    const int kept = (code == EXIT_ROOM || code == EXIT_FILE) && path_written()[0];
    va_list arguments;
    progress_end();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printable(text, shown, sizeof shown);
    printable(path_written(), path, sizeof path);
    fprintf(stderr, "fenchel: %s%s%s%s\n", shown, kept ? "; " : "", kept ? path : "",
            kept ? " was written before that and is whole" : "");
    return code;
}

int fail(const fen_error *err)
{
    if (err->status == FEN_STOPPED) /* our own progress callback asked for it */
        return complain(EXIT_INTERRUPTED, "interrupted; nothing was written");
    return complain(exit_of_status[err->status], "%s", err->message);
}

int fail_to_load(const fen_error *err, const char *model, const char *data)
{
    fen_model *other = NULL;
    if (err->status != FEN_BAD_DATA || fen_model_load(data, &other, NULL)) return fail(err);
    fen_model_free(other);
    return complain(exit_of_status[err->status],
                    "%s is not a fenchel model, but %s is one: the model comes first", model, data);
}

const command *find_command(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[32] = { NULL };
    for (int i = 0; commands[i] && i < 31; i++) names[i] = commands[i]->name;
    const char *near = nearest(name, names);
    if (near)
        return complain(EXIT_USAGE, "there is no command \"%s\"; did you mean %s?", name, near);
    return complain(EXIT_USAGE, "there is no command \"%s\"; see fenchel --help", name);
}

static char **all_words; /* of main */

/* OpenMP's threads spin while they wait; on a machine with other work that makes a fit ten
 * times slower. To sleep at once makes small eigendecompositions twice as slow: they wait ten
 * thousand times for microseconds. So: sleep, but after some microseconds of spinning (libgomp
 * understands the second word). The runtime reads its policy when it is loaded, before main:
 * hence the new start, of 3 ms. */
void wait_politely(void)
{
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
    if (setenv("GOMP_SPINCOUNT", "5000", 0) != 0) return;
    execv("/proc/self/exe", all_words); /* returns only where that cannot be done: no harm */
}

static int run_command(const command *c, int argc, const char **argv)
{
    request r;
    if (c->drop_in && argc == 2 && strcmp(argv[1], "--help") == 0)
        return print_command_help(c, stdout);
    if (c->drop_in) return c->drop_in(c, argc, argv);
    wait_politely();
    int code = request_read(&r, c, argc, argv);
    if (code == EXIT_DONE) code = r.help ? print_command_help(c, stdout) : c->run(&r);
    progress_end();
    request_free(&r);
    return code;
}

static int help(int argc, const char **argv)
{
    if (argc > 2 && !find_command(argv[2])) return unknown_command(argv[2]);
    if (argc > 2) return print_command_help(find_command(argv[2]), stdout);
    print_overview(stdout);
    return EXIT_DONE;
}

/* A link to the tool under the name of a drop-in is that command. */
static const command *command_of_link(const char *program)
{
    const char *slash = strrchr(program, '/');
    const command *c = find_command(slash ? slash + 1 : program);
    return c && c->drop_in ? c : NULL;
}

static int dispatch(int argc, const char **argv)
{
    const command *linked = argc > 0 ? command_of_link(argv[0]) : NULL;
    if (linked) return run_command(linked, argc, argv);
    const char *word = argc > 1 ? argv[1] : "";
    if (argc < 2) return complain(EXIT_USAGE, "which command? see fenchel --help");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return help(argc, argv);
    if (strcmp(word, "--version") == 0)
        return printf("fenchel %s\n", fen_version()) < 0 ? EXIT_FILE : EXIT_DONE;
    if (strcmp(word, "--man") == 0) return print_manual();
    if (strcmp(word, "--completion") == 0) return print_completion(argc > 2 ? argv[2] : "");
    const command *c = find_command(word);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(word);
}

int main(int argc, char **argv)
{
    static char page[1 << 17]; /* long help fits whole: a full disk is met by the last flush,
                                  which still knows why */
    all_words = argv;
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, page, _IOFBF, sizeof page);
    signals_prepare();
    int code = terminal_prepare();
    if (code == EXIT_DONE) code = dispatch(argc, (const char **)argv);
    errno = 0;
    if (terminal_flush() && code == EXIT_DONE)
        return complain(EXIT_FILE, "standard output cannot be written: %s",
                        errno ? strerror(errno) : "an earlier write failed");
    return code;
}
