/* popt_table.h -- the options of one command as popt wants them */
#ifndef POPT_TABLE_H
#define POPT_TABLE_H
#include <popt.h>
#include "cli.h"

/* What poptGetNextOpt answers: an option of the library, of the tool, -o or
 * --plot. */
enum { VALUE_LIBRARY = 1, VALUE_OWN = 1000, VALUE_OUTPUT = 2000, VALUE_PLOT };

typedef struct popt_table {
    struct poptOption *entry;
    char **text;                /* descriptions made for it */
    int    text_count;
} popt_table;
int  popt_table_make(popt_table *t, const command *c);     /* 0: out of memory; free anyway */
void popt_table_free(popt_table *t);
#endif
