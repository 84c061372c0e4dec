/* arguments.c -- a command line becomes a request, by popt
 *
 * The poptOption array is made from the library's option table and the few options of
 * the tool's own. Values are parsed and checked by fen_options_set alone. */
#include <popt.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "popt_table.h"

/* clang-format off */
const own_option own_options[OWN_COUNT] = {
    [OWN_JSON]  = { 0,   "json",  "print one JSON object on standard output, errors go to standard error" },
    [OWN_QUIET] = { 'q', "quiet", "print nothing but errors, and what --json or a missing -o sends to standard output" },
    [OWN_HELP]  = { 'h', "help",  "show this help" },
};
/* clang-format on */

int option_applies(const fen_option *o, const command *c)
{
    size_t length = strlen(c->name);
    for (const char *at = strstr(o->commands, c->name); at; at = strstr(at + 1, c->name)) {
        int starts = at == o->commands || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0')) return 1;
    }
    return 0;
}

/* ---- the table for popt ---------------------------------------------------------- */

static char *describe(const fen_option *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(o->help, out);
    const char *name;
    for (int32_t i = 0; (name = fen_list(o->name, i, NULL)) != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : ": ", name);
    if (o->argument && o->initial[0]) fprintf(out, " (default: %s)", o->initial);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

int popt_table_make(popt_table *t, const command *c)
{
    int rows = 0;
    while (fen_option_at(rows)) rows++;
    *t = (popt_table){ .entry = calloc((size_t)rows + OWN_COUNT + 3, sizeof *t->entry),
                       .text = calloc((size_t)rows + 1, sizeof *t->text) };
    struct poptOption *e = t->entry;
    if (!e || !t->text) return 0;
    if (c->output)
        *e++ = (struct poptOption){ "output",       'o',      POPT_ARG_STRING, NULL, VALUE_OUTPUT,
                                    c->output_help, c->output };
    if (c->plot_help)
        *e++ =
            (struct poptOption){ "plot",       0, POPT_ARG_STRING, NULL, VALUE_PLOT, c->plot_help,
                                 PLOT_ARGUMENT };
    for (int i = 0; i < OWN_COUNT; i++)
        *e++ = (struct poptOption){ own_options[i].name, own_options[i].letter, POPT_ARG_NONE, NULL,
                                    VALUE_OWN + i,       own_options[i].help,   NULL };
    for (int i = 0; i < rows; i++) {
        const fen_option *o = fen_option_at(i);
        if (!option_applies(o, c)) continue;
        char *text = t->text[t->text_count] = describe(o);
        if (!text) return 0;
        t->text_count++;
        *e++ = (struct poptOption){ o->name,
                                    0,
                                    o->argument ? POPT_ARG_STRING : POPT_ARG_NONE,
                                    NULL,
                                    VALUE_LIBRARY + i,
                                    text,
                                    o->argument };
    }
    *e = (struct poptOption)POPT_TABLEEND;
    return 1;
}

void popt_table_free(popt_table *t)
{
    for (int i = 0; i < t->text_count; i++) free(t->text[i]);
    free(t->text);
    free(t->entry);
}

/* ---- complaints -------------------------------------------------------------------- */

static int unknown_option(const command *c, const popt_table *t, const char *written)
{
    char name[64];
    const char *start = written + strspn(written, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
    for (int32_t i = 0; fen_option_at(i); i++)
        if (strcmp(fen_option_at(i)->name, name) == 0)
            return complain(EXIT_USAGE, "--%s is no option of %s, only of: %s", name, c->name,
                            fen_option_at(i)->commands);
    const char *names[64] = { NULL };
    for (int i = 0; t->entry[i].longName && i < 63; i++) names[i] = t->entry[i].longName;
    const char *near = nearest(name, names);
    const char *dashes = strlen(name) == 1 ? "-" : "--";
    if (near)
        return complain(EXIT_USAGE, "there is no option %s%s; did you mean --%s?", dashes, name,
                        near);
    return complain(EXIT_USAGE, "there is no option %s%s; see fenchel %s --help", dashes, name,
                    c->name);
}

static int wrong_syntax(const command *c, const popt_table *t, poptContext popt, int status)
{
    const char *written = poptBadOption(popt, POPT_BADOPTION_NOALIAS);
    if (status == POPT_ERROR_BADOPT) return unknown_option(c, t, written);
    if (status == POPT_ERROR_NOARG)
        return complain(EXIT_USAGE, "%s needs a value; see fenchel %s --help", written, c->name);
    if (status == POPT_ERROR_UNWANTEDARG)
        return complain(EXIT_USAGE, "%s: this option takes no value", written);
    return complain(EXIT_USAGE, "%s: %s", written, poptStrerror(status));
}

/* ---- reading ------------------------------------------------------------------------- */

static char *keep(request *r, char *text) /* options borrow their strings */
{
    char **longer = realloc(r->kept, ((size_t)r->kept_count + 1) * sizeof *longer);
    if (!longer) {
        free(text);
        return NULL;
    }
    r->kept = longer;
    return r->kept[r->kept_count++] = text;
}

/* --name=value behind what is there, in quotes where a shell would want them. */
static void add_typed(request *r, const fen_option *o, const char *text)
{
    const size_t used = strlen(r->selecting), room = sizeof r->selecting - used;
    char word[sizeof r->selecting] = "";
    if (!option_applies(o, &command_select)) return;
    if (text && text[0]) shell_word(text, word, sizeof word);
    const int length =
        snprintf(r->selecting + used, room, " --%s%s%s", o->name, text ? "=" : "", word);
    if ((size_t)length >= room) r->selecting[used] = '\0';
}

static int take_option(request *r, int value, char *text)
{
    fen_error err;
    if (text && !keep(r, text))
        return complain(EXIT_ROOM, "out of memory while reading the command line");
    if (value == VALUE_OUTPUT)
        r->output = text;
    else if (value == VALUE_PLOT)
        r->plot = text;
    else if (value == VALUE_OWN + OWN_JSON)
        r->json = 1;
    else if (value == VALUE_OWN + OWN_QUIET)
        r->quiet = 1;
    else if (value == VALUE_OWN + OWN_HELP)
        r->help = 1;
    else {
        const fen_option *o = fen_option_at(value - VALUE_LIBRARY);
        if (text && !text[0] && strcmp(o->name, "feature-weights") == 0)
            return complain(EXIT_USAGE, "--feature-weights is empty: give COLUMN=WEIGHT,... or a "
                                        "file of such lines, or leave it out");
        if (fen_options_set(&r->options, o->name, text, &err)) return fail(&err);
        r->power |= strcmp(o->name, "power") == 0;
        add_typed(r, o, text);
    }
    return EXIT_DONE;
}

/* The library cannot tell a power of 2 that was given from one that was not. */
static int check_power(const request *r)
{
    if (!r->power || strncmp(r->options.penalty, "lp:", 3) != 0) return EXIT_DONE;
    return complain(EXIT_USAGE,
                    "--penalty %.64s is its own power; leave --power out, or write another P",
                    r->options.penalty);
}

static int take_operands(request *r, const char **given)
{
    int count = 0;
    while (given && given[count]) count++;
    if (r->help) return EXIT_DONE;
    char usage[USAGE_MAX];
    usage_text(r->command, usage);
    if (count < r->command->operand_count)
        return complain(EXIT_USAGE, "too few operands; usage: fenchel %s", usage);
    if (count > r->command->operand_count)
        return complain(EXIT_USAGE, "\"%s\" is one operand too many; usage: fenchel %s",
                        given[r->command->operand_count], usage);
    for (int i = 0; i < count; i++) {
        char *copy = strdup(given[i]); /* given ends with the popt context */
        r->operand[i] = copy ? keep(r, copy) : NULL;
        if (!r->operand[i])
            return complain(EXIT_ROOM, "out of memory while reading the command line");
    }
    return EXIT_DONE;
}

int request_read(request *r, const command *c, int argc, const char **argv)
{
    popt_table t;
    *r = (request){ .command = c, .options = fen_options_default() };
    int code = EXIT_DONE, value = 0;
    poptContext popt =
        popt_table_make(&t, c) ? poptGetContext(c->name, argc, argv, t.entry, 0) : NULL;
    if (!popt) code = complain(EXIT_ROOM, "out of memory while reading the command line");
    while (code == EXIT_DONE && (value = poptGetNextOpt(popt)) > 0)
        code = take_option(r, value, poptGetOptArg(popt));
    if (code == EXIT_DONE && value < -1) code = wrong_syntax(c, &t, popt, value);
    if (code == EXIT_DONE) code = check_power(r);
    if (code == EXIT_DONE) code = take_operands(r, poptGetArgs(popt));
    if (popt) poptFreeContext(popt);
    popt_table_free(&t);
    return code;
}

void request_free(request *r)
{
    for (int i = 0; i < r->kept_count; i++) free(r->kept[i]);
    free(r->kept);
}
