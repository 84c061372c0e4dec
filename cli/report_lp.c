/* report_lp.c -- what a report says of a model with the penalty lp */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "report.h"

/* "1.3e-04", of several targets "1.3e-04 (y1), no bound (y2)"; 0: there is no bound for any. */
static int list_distances(const json_t *model, char *out, size_t room)
{
    size_t used = 0;
    int known = 0;
    for (int64_t t = 0; t < targets_shown(model); t++) {
        const double distance = json_at_target(model, "optimum_distance", t);
        char number[32] = "no bound", name[64] = "";
        if (!isnan(distance)) snprintf(number, sizeof number, "%.2g", distance);
        if (target_count(model) > 1) snprintf(name, sizeof name, " (%.50s)", target_name(model, t));
        used += (size_t)snprintf(out + used, room - used, "%s%s%s", t ? ", " : "", number, name);
        known |= !isnan(distance);
    }
    return known;
}

/* An interval without end, in some target: JSON has null for it. */
static int lacks_bias(const json_t *model)
{
    int64_t t = 0;
    while (t < target_count(model) && (isnan(json_at_target(model, "norm_distance", t)) ||
                                       !isnan(json_at_target(model, "bias_distance", t))))
        t++;
    return t < target_count(model);
}

/* How far they are from the optimum, and what part of that is not the fit's. Of classes that is
 * said of what decides between them. */
static void report_predictions(const json_t *model)
{
    const int numbers = strcmp(json_text_at(model, "task"), "regression") == 0;
    const char *label = numbers ? "Predictions" : "Scores";
    const double error = json_at(model, "prediction_error");
    char list[TARGETS_SHOWN * 100] = "", also[96] = "";
    const int known = list_distances(model, list, sizeof list);
    if (error > 0)
        snprintf(also, sizeof also, "within %.2g of the function that is certified", error);
    if (known)
        report(label,
               "of the training rows are within %s of those of the exact minimum of the "
               "objective%s%s%s",
               list, target_count(model) > TARGETS_SHOWN ? ", ..." : "", also[0] ? ", and " : "",
               also);
    else if (also[0])
        report(label, "of the training rows are %s", also);
    if (lacks_bias(model))
        report(known || also[0] ? "" : label,
               "have a bias that the training rows do not determine: other values do as well");
}

/* |w|_p, and how sure predictions are. */
void report_lp(const json_t *model)
{
    for (int64_t t = 0; t < targets_shown(model); t++) {
        char name[128] = "";
        if (target_count(model) > 1) snprintf(name, sizeof name, "%.100s: ", target_name(model, t));
        report(t == 0 ? "Norm" : "", "%s|w|_p = %.4g", name, json_at_target(model, "norm", t));
    }
    report_predictions(model);
}
