/* clock.h -- time, limits, progress and cancellation: the only place that looks at them */
#ifndef FENP_CLOCK_H
#define FENP_CLOCK_H
#include "fenchel/fenchel.h"

double fenp_now(void);             /* seconds on a monotonic clock */

/* A stretch of a long call: maps its own 0..1 into [from, to] of the whole. */
typedef struct fenp_task {
    const fen_host *host;          /* may be NULL */
    const char *stage;
    double from, to;
    double deadline;               /* fenp_now() value; 0: none */
} fenp_task;
fenp_task fenp_task_start(const fen_host *host, double time_limit_seconds);
/* The part [a, b] of task, under its own stage name. */
fenp_task fenp_task_part(const fenp_task *task, const char *stage, double a, double b);
/* Reports; FEN_STOPPED if the host says so, FEN_LIMIT if the deadline is past. task may be NULL. */
fen_status fenp_task_at(const fenp_task *task, double fraction, fen_error *err);
/* Tells the host that from now on a stop leaves a model. */
void fenp_task_leaves_model(const fenp_task *task);
/* The part [from, to] of a call as the whole of another that it makes: &share->own is the host
 * of that one. share lives as long. */
typedef struct fenp_share {
    fen_host own;
    const fen_host *host;          /* may be NULL */
    double from, to;
} fenp_share;
void fenp_share_open(fenp_share *share, const fen_host *host, double from, double to);
/* Threads that work at a task side by side. One speaks with the host; all of them hear when it is
 * told to stop, or when one of them failed and set stopped. */
typedef struct fenp_team {
    const fenp_task *task;         /* may be NULL */
    _Atomic int stopped;
} fenp_team;
/* The task as one of them has it. host: room for its own, which lives as long. */
fenp_task fenp_team_task(fenp_team *team, int speaks, fen_host *host);
/* Bytes of memory this process may still take (MemAvailable, cgroup limit), and has now. */
int64_t fenp_memory_available(void);
int64_t fenp_memory_resident(void);
#endif
