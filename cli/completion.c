/* completion.c -- fenchel --completion SHELL: scripts from the command and the option table */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* Text inside single quotes. */
static void put_quoted(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
}

static void put_list(const char *kind)
{
    const char *name;
    for (int32_t i = 0; (name = fen_list(kind, i, NULL)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", name);
}

/* The words that may follow an option, with blanks between; nothing: anything may. */
static int put_choices(const fen_option *o)
{
    if (fen_list(o->name, 0, NULL)) {
        if (strcmp(o->initial, "auto") == 0) fputs("auto ", stdout);
        put_list(o->name);
        return 1;
    }
    if (!o->argument || !strchr(o->argument, '|')) return 0;
    for (const char *at = o->argument; *at; at++) putchar(*at == '|' ? ' ' : *at);
    return 1;
}

static int has_choices(const fen_option *o)
{
    return fen_list(o->name, 0, NULL) || (o->argument && strchr(o->argument, '|'));
}

/* ---- bash -------------------------------------------------------------------------- */

static void bash_command(const command *c)
{
    const fen_option *o;
    if (c->drop_in) {
        printf("        %s) options='--help' ;;\n", c->name);
        return;
    }
    printf("        %s) options='--json --quiet --help%s%s", c->name, c->output ? " --output" : "",
           c->plot_help ? " --plot" : "");
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++)
        if (option_applies(o, c)) printf(" --%s", o->name);
    fputs("'", stdout);
    if (c->operand_list) {
        fputs("; operands='", stdout);
        put_list(c->operand_list);
        fputs("'", stdout);
    }
    puts(" ;;");
}

static int bash(void)
{
    const fen_option *o;
    fputs("# bash completion for fenchel\n"
          "_fenchel() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local options='' operands='' choices=''\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W 'help --help --version --man --completion",
          stdout);
    for (int i = 0; commands[i]; i++) printf(" %s", commands[i]->name);
    puts("' -- \"$word\"))\n"
         "        return\n"
         "    fi\n"
         "    case $before in");
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++)
        if (has_choices(o)) {
            printf("        --%s) choices='", o->name);
            put_choices(o);
            puts("' ;;");
        }
    puts("        --completion) choices='bash zsh fish' ;;\n"
         "    esac\n"
         "    if [ -n \"$choices\" ]; then\n"
         "        COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "        return\n"
         "    fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (int i = 0; commands[i]; i++) bash_command(commands[i]);
    puts("    esac\n"
         "    case $word in\n"
         "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "        *) COMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
         "           if [ -z \"$operands\" ]; then\n"
         "               COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "           fi ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -F _fenchel fenchel");
    return EXIT_DONE;
}

/* ---- zsh --------------------------------------------------------------------------- */

static void zsh_option(const fen_option *o)
{
    printf(" \\\n            '--%s%s[", o->name, o->argument ? "=" : "");
    put_quoted(o->help);
    fputs("]", stdout);
    if (o->argument) {
        fputs(":value:", stdout);
        if (has_choices(o)) {
            fputs("(", stdout);
            put_choices(o);
            fputs(")", stdout);
        }
    }
    fputs("'", stdout);
}

static void zsh_command(const command *c)
{
    const fen_option *o;
    printf("        %s) _arguments", c->name);
    if (c->drop_in) {
        puts(" '*:file:_files' ;;");
        return;
    }
    if (c->output) {
        fputs(" \\\n            '(-o --output)'{-o+,--output=}'[", stdout);
        put_quoted(c->output_help);
        fputs("]:file:_files'", stdout);
    }
    if (c->plot_help) {
        fputs(" \\\n            '--plot=[", stdout);
        put_quoted(c->plot_help);
        fputs("]:file:_files'", stdout);
    }
    for (int i = 0; i < OWN_COUNT; i++)
        printf(" \\\n            '--%s[%s]'", own_options[i].name, own_options[i].help);
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++)
        if (option_applies(o, c)) zsh_option(o);
    fputs(" \\\n            '*:operand:", stdout);
    if (c->operand_list) {
        fputs("(", stdout);
        put_list(c->operand_list);
        fputs(")", stdout);
    } else
        fputs("_files", stdout);
    puts("' ;;");
}

static int zsh(void)
{
    puts("#compdef fenchel\n"
         "_fenchel() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (int i = 0; commands[i]; i++) {
        printf("        '%s:", commands[i]->name);
        put_quoted(commands[i]->summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in");
    for (int i = 0; commands[i]; i++) zsh_command(commands[i]);
    puts("    esac\n"
         "}\n"
         "_fenchel \"$@\"");
    return EXIT_DONE;
}

/* ---- fish --------------------------------------------------------------------------- */

static void fish_line(const command *c, char letter, const char *name, const char *help)
{
    printf("complete -c fenchel -n '__fish_seen_subcommand_from %s' -l %s", c->name, name);
    if (letter) printf(" -s %c", letter);
    fputs(" -d '", stdout);
    for (const char *at = help; *at; at++) { /* fish escapes by backslash */
        if (*at == '\'' || *at == '\\') putchar('\\');
        putchar(*at);
    }
    fputs("'", stdout);
}

static void fish_command(const command *c)
{
    const fen_option *o;
    printf("complete -c fenchel -n __fish_use_subcommand -f -a %s -d '", c->name);
    fputs(c->summary, stdout);
    puts("'");
    if (c->drop_in) return;
    if (c->output) {
        fish_line(c, 'o', "output", c->output_help);
        puts(" -r");
    }
    if (c->plot_help) {
        fish_line(c, 0, "plot", c->plot_help);
        puts(" -r");
    }
    for (int i = 0; i < OWN_COUNT; i++) {
        fish_line(c, own_options[i].letter, own_options[i].name, own_options[i].help);
        putchar('\n');
    }
    for (int32_t i = 0; (o = fen_option_at(i)) != NULL; i++) {
        if (!option_applies(o, c)) continue;
        fish_line(c, 0, o->name, o->help);
        if (o->argument) {
            fputs(" -x -a '", stdout);
            put_choices(o);
            fputs("'", stdout);
        }
        putchar('\n');
    }
    if (c->operand_list) {
        printf("complete -c fenchel -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
        put_list(c->operand_list);
        puts("'");
    }
}

static int fish(void)
{
    puts("# fish completion for fenchel");
    for (int i = 0; commands[i]; i++) fish_command(commands[i]);
    return EXIT_DONE;
}

static const struct {
    const char *name;
    int (*print)(void);
} shells[] = {
    { "bash", bash },
    { "zsh", zsh },
    { "fish", fish },
};

int print_completion(const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, shell) == 0) return shells[i].print();
    return complain(EXIT_USAGE, "--completion needs one of bash, zsh, fish, not \"%s\"", shell);
}
