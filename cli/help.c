/* help.c -- --help for people, from the command table; popt lays out the options */
#include "popt_table.h"

const char *usage_text(const command *c, char out[USAGE_MAX])
{
    if (c->drop_in)
        snprintf(out, USAGE_MAX, "%s ...", c->name);
    else if (c->output)
        snprintf(out, USAGE_MAX, "%s %s [-o %s]", c->name, c->operands, c->output);
    else
        snprintf(out, USAGE_MAX, "%s %s", c->name, c->operands);
    return out;
}

void print_overview(FILE *out)
{
    char usage[USAGE_MAX];
    fprintf(out,
            "fenchel %s: regularized kernel learning, every answer with a certificate\n\n"
            "usage: fenchel COMMAND ... [OPTIONS]\n\n",
            fen_version());
    for (int i = 0; commands[i]; i++)
        fprintf(out, "  %-28s %s\n", usage_text(commands[i], usage), commands[i]->summary);
    fputs("\n"
          "  fenchel COMMAND --help       options and examples of a command\n"
          "  fenchel --man                everything, as a man page\n"
          "  fenchel --completion SHELL   completion for bash, zsh or fish\n"
          "  fenchel --version\n\n"
          "Start here:\n"
          "  fenchel generate friedman -o friedman.csv\n"
          "  fenchel fit friedman.csv\n\n"
          "Exit codes:\n",
          out);
    for (int i = 0; exit_codes[i].meaning; i++)
        fprintf(out, "  %3d  %s\n", exit_codes[i].code, exit_codes[i].meaning);
}

static void print_examples(const command *c, FILE *out)
{
    fputs("\nExamples:\n", out);
    for (int i = 0; c->examples[i]; i += 2)
        fprintf(out, "  # %s\n  %s\n", c->examples[i], c->examples[i + 1]);
}

static int print_drop_in_help(const command *c, FILE *out)
{
    print_wrapped(out, "", c->description);
    fprintf(out, "\nUsage: fenchel %s %s\n%s", c->name, c->operands, c->options);
    print_examples(c, out);
    return EXIT_DONE;
}

int print_command_help(const command *c, FILE *out)
{
    if (c->drop_in) return print_drop_in_help(c, out);
    popt_table t;
    char usage[USAGE_MAX], rest[USAGE_MAX + 16];
    const char *argv[] = { "fenchel", NULL };
    snprintf(rest, sizeof rest, "%s [OPTIONS]", usage_text(c, usage));
    poptContext popt = popt_table_make(&t, c) ? poptGetContext(NULL, 1, argv, t.entry, 0) : NULL;
    if (popt) {
        print_wrapped(out, "", c->description);
        fputc('\n', out);
        poptSetOtherOptionHelp(popt, rest);
        poptPrintHelp(popt, out, 0);
        print_examples(c, out);
        poptFreeContext(popt);
    }
    popt_table_free(&t);
    return popt ? EXIT_DONE : complain(EXIT_ROOM, "out of memory while writing the help");
}
