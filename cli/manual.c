/* manual.c -- fenchel --man: the man page, from the command and the option table */
#include <ctype.h>
#include <string.h>
#include "cli.h"

#define REVISED "2026-11-15" /* the text, not the build: builds are reproducible */

/* roff: backslashes and hyphens are escaped, a leading dot or quote is protected. */
static void put(const char *text)
{
    if (text[0] == '.' || text[0] == '\'') fputs("\\&", stdout);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
}

static void put_line(const char *before, const char *text, const char *after)
{
    fputs(before, stdout);
    put(text);
    puts(after);
}

static void put_synopsis(const command *c)
{
    fputs("\\fBfenchel ", stdout);
    put(c->name);
    fputs("\\fR ", stdout);
    put_line("\\fI", c->operands, "\\fR");
    if (c->output) put_line("[\\fB\\-o\\fR \\fI", c->output, "\\fR]");
    if (!c->drop_in) puts("[\\fIOPTIONS\\fR]");
}

static void put_option(const char *letter, const char *name, const char *argument)
{
    puts(".TP");
    if (letter) printf("\\fB\\-%s\\fR, ", letter);
    fputs("\\fB\\-\\-", stdout);
    put(name);
    fputs("\\fR", stdout);
    if (argument)
        put_line(" \\fI", argument, "\\fR");
    else
        putchar('\n');
}

static void put_own_options(void)
{
    for (int i = 0; i < OWN_COUNT; i++) {
        char letter[2] = { own_options[i].letter, '\0' };
        put_option(letter[0] ? letter : NULL, own_options[i].name, NULL);
        put_line("", own_options[i].help, ".");
    }
}

static void put_choices(const char *kind)
{
    const char *name, *help = NULL;
    for (int32_t i = 0; (name = fen_list(kind, i, &help)) != NULL; i++) {
        puts(".br");
        put_line("\\fB", name, "\\fR:");
        put_line("", help ? help : "", "");
    }
}

static void put_library_options(void)
{
    const fen_option *o;
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++) {
        put_option(NULL, o->name, o->argument);
        put_line("", o->help, ".");
        if (o->argument && o->initial[0]) put_line("Default: \\fB", o->initial, "\\fR.");
        put_line("Commands: ", o->commands, ".");
        put_choices(o->name);
    }
}

/* The options of a drop-in are its own: line by line as its help has them. */
static void put_own_text(const char *text)
{
    puts(".PP\n.nf");
    while (*text) {
        const char *stop = strchr(text, '\n');
        char line[128];
        snprintf(line, sizeof line, "%.*s", (int)(stop ? stop - text : 127), text);
        put_line("", line, "");
        text = stop ? stop + 1 : "";
    }
    puts(".fi");
}

/* Names only: each option is explained once, further down. */
static void put_option_names(const command *c)
{
    if (c->drop_in) {
        put_own_text(c->options);
        return;
    }
    puts(".PP\nOptions:");
    const fen_option *o;
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++)
        if (option_applies(o, c)) put_line("\\fB\\-\\-", o->name, "\\fR,");
    for (int i = 0; i < OWN_COUNT; i++)
        put_line("\\fB\\-\\-", own_options[i].name, i + 1 < OWN_COUNT ? "\\fR," : "\\fR.");
}

static void put_command(const command *c)
{
    put_line(".SS ", c->name, "");
    put_synopsis(c);
    put_line(".PP\n", c->description, "");
    if (c->output) {
        put_option("o", "output", c->output);
        put_line("", c->output_help, ".");
    }
    if (c->plot_help) {
        put_option(NULL, "plot", PLOT_ARGUMENT);
        put_line("", c->plot_help, ".");
    }
    if (c->operand_list) {
        put_line(".TP\n\\fI", c->operands, "\\fR");
        puts("One of:");
        put_choices(c->operand_list);
    }
    put_option_names(c);
    for (int i = 0; c->examples[i]; i += 2) {
        printf(".PP\n%c", toupper((unsigned char)c->examples[i][0]));
        put_line("", c->examples[i] + 1, ":");
        put_line(".PP\n.RS 4\n.nf\n", c->examples[i + 1], "\n.fi\n.RE");
    }
}

static void put_files(void)
{
    puts(".SH FILES\n"
         ".TP\n\\fIDATA\\fR\n"
         "Rows with named columns, plain or compressed by gzip. Formats:");
    put_choices("format");
    puts(
        ".TP\n\\fIMODEL\\fR (\\fB.fen\\fR)\n"
        "A safetensors file: eight bytes with the length of the header, a JSON header, raw\n"
        "little\\-endian arrays. It holds the preparation of the columns, so raw rows are\n"
        "enough to predict. Nothing in it is executed.\n"
        ".PP\n"
        "Files get their name when they are whole and synced: an existing file is replaced whole\n"
        "or stays as it was, however the process ends. Symbolic links are followed; mode and owner\n"
        "stay.\n"
        ".SH SIGNALS\n"
        "SIGINT, SIGTERM and SIGHUP stop an iterative fit after the step at hand: the model so far\n"
        "is saved. Anything else ends within one second and writes nothing. Both are exit status\n"
        "130. A second signal ends the process at once.");
}

int print_manual(void)
{
    printf(".TH FENCHEL 1 " REVISED " \"fenchel %s\"\n", fen_version());
    puts(".SH NAME\nfenchel \\- regularized kernel learning with optimality certificates");
    puts(".SH SYNOPSIS");
    for (int i = 0; commands[i]; i++) {
        put_synopsis(commands[i]);
        puts(".br");
    }
    puts(
        "\\fBfenchel\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR | \\fB\\-\\-man\\fR |\n"
        "\\fB\\-\\-completion\\fR \\fIbash\\fR|\\fIzsh\\fR|\\fIfish\\fR\n"
        ".SH DESCRIPTION\n"
        "Minimises the weighted mean of a loss plus lambda times a power of the norm of a\n"
        "function (the square, unless \\fB\\-\\-power\\fR says otherwise), over the functions of a\n"
        "kernel and a constant that is not penalised. With \\fB\\-\\-penalty\\fR l1, elastic:MIX\n"
        "or group lambda multiplies the sum over the groups of coefficients of a linear model\n"
        "(each by itself, unless they are grouped) of their weight times MIX |beta| +\n"
        "(1 \\- MIX)/2 |beta|^2, |beta| the norm of the group; with none there is no penalty.\n"
        "With \\fB\\-\\-penalty\\fR lp:P, 1 < P <= 2, it multiplies sum |w_k|^P of the weights of\n"
        "the features that the function is made of: columns, or products of columns with the\n"
        "tensor kernels.\n"
        "Every fit ends with a certificate: a lower bound on what any function could\n"
        "reach, computed by code that shares nothing with the solvers.\n"
        ".PP\n"
        "Wherever a value may be searched it is \\fBauto\\fR, a number, a fraction like 1/3,\n"
        "a list like 0.1,1,10 or a grid low:high:count with equal ratios (powers: equal\n"
        "steps).\n"
        ".SH COMMANDS");
    for (int i = 0; commands[i]; i++) put_command(commands[i]);
    puts(".SH OPTIONS");
    put_own_options();
    put_library_options();
    puts(".SH EXIT STATUS");
    for (int i = 0; exit_codes[i].meaning; i++) {
        printf(".TP\n\\fB%d\\fR\n", exit_codes[i].code);
        put_line("", exit_codes[i].meaning, ".");
    }
    puts(".PP\n"
         "With 2, 3 and 4 standard output is empty, with \\fB\\-\\-json\\fR too: what is wrong is\n"
         "one sentence on standard error.");
    put_files();
    return EXIT_DONE;
}
