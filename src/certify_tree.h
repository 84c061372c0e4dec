/* certify_tree.h -- the tree of features in numbers of one kind: what certify_tree.c makes twice
 *
 * REAL is the kind, and OF(name) what a name is called there. dot and combine come from the
 * file that includes this one. */
#define bucket OF(bucket)
#define odd_power OF(odd_power)
#define combine OF(combine)
#define leaves_of OF(leaves_of)
#define multiply OF(multiply)
#define walk OF(walk)
#define gather OF(gather)
#define dot OF(dot)
#define fill OF(fill)
#define add_features OF(add_features)

typedef struct bucket {
    const fenp_tree *s;
    const fenp_simd *simd;
    int64_t mine, seen, degree, split;
    int64_t nodes; /* that have leaves */
    REAL c;
    REAL *weighed;      /* n                                                               */
    REAL *slope;        /* p: what s_k^(q-1) of the leaves of one node come to             */
    REAL *om;           /* scored x n                                                      */
    long double *value; /* count                                                           */
} bucket;

/* x^e, e odd */
static inline REAL odd_power(REAL x, int64_t e)
{
    REAL power = x;
    for (const REAL square = x * x; e > 1; e -= 2) power *= square;
    return power;
}

/* Leaves that have the node's factors and one column more, from .. p - 1. run: how often column
 * `from` is among the factors; orders: of these. */
static void leaves_of(bucket *b, const REAL *node, int64_t from, int64_t run, REAL orders)
{
    const fenp_tree *s = b->s;
    const int64_t n = s->n, m = b->degree;
    for (int64_t k = 0; k < s->count; k++) {
        REAL *om = b->om + k * n;
        for (int64_t i = 0; i < n; i++) b->weighed[i] = node[i] * s->v[k * n + i];
        for (int64_t j = from; j < s->p; j++) {
            const REAL sum = dot(b->simd, b->weighed, s->column + j * n, n);
            const REAL many = orders * (REAL)m / (REAL)(j == from ? run + 1 : 1);
            b->slope[j] = b->c * many * odd_power(sum, s->q - 1);
            b->value[k] += (long double)b->slope[j] * sum;
        }
        if (k >= s->scored) continue;
        combine(b->simd, s, from, b->slope, b->weighed);
        for (int64_t i = 0; i < n; i++) om[i] += node[i] * b->weighed[i];
    }
}

/* to = from times column j; whether anything is left of it. */
static int multiply(const fenp_tree *s, const REAL *from, int64_t j, REAL *to)
{
    const double *column = s->column + j * s->n;
    REAL size = 0.0;
#pragma omp simd reduction(+ : size)
    for (int64_t i = 0; i < s->n; i++) {
        to[i] = from[i] * column[i];
        size += to[i] < 0.0 ? -to[i] : to[i];
    }
    return size > 0.0;
}

/* The node has `depth` factors, the last `run` of them column `from`. Other columns go one level
 * down; one more of the same is made in its place, after them. */
static void walk(bucket *b, REAL *node, int64_t depth, int64_t from, int64_t run, REAL orders)
{
    const fenp_tree *s = b->s;
    for (;;) {
        if (depth == b->split && b->seen++ % BUCKETS != b->mine) return;
        if (depth == b->degree - 1) {
            b->nodes++;
            leaves_of(b, node, from, run, orders);
            return;
        }
        depth++;
        for (int64_t j = from + 1; j < s->p; j++)
            if (multiply(s, node, j, node + s->n))
                walk(b, node + s->n, depth, j, 1, orders * (REAL)depth);
        if (from >= s->p || !multiply(s, node, from, node)) return;
        orders *= (REAL)depth / (REAL)++run;
    }
}

/* value: of this degree. om: what is added to it is rounded once, and so is the sum. */
static int64_t gather(const fenp_tree *s, const bucket *buckets, long double *value, fenp_sums *out)
{
    int64_t nodes = 0;
    for (int b = 0; b < BUCKETS; b++) {
        nodes = buckets[b].nodes > nodes ? buckets[b].nodes : nodes;
        for (int64_t k = 0; k < s->count; k++) value[k] += buckets[b].value[k];
    }
    for (int64_t i = 0; i < s->scored * s->n; i++) {
        long double sum = 0.0L;
        for (int b = 0; b < BUCKETS; b++) sum += buckets[b].om[i];
        fenp_sums_add(out, i, sum);
    }
    return nodes;
}

static void fill(const fenp_tree *s, int64_t degree, double c, long double start, REAL *work,
                 long double *values, bucket *buckets)
{
    const int64_t each = bucket_numbers(s->n, s->p, s->scored, degree);
    const int64_t levels = levels_of(s->p, degree);
#pragma omp parallel for schedule(dynamic, 1) if (fenp_tree_cost(s, degree) > LITTLE)
    for (int k = 0; k < BUCKETS; k++) {
        REAL *own = work + k * each; /* begins with levels x n: x^k of the way down from the root */
        buckets[k] = (bucket){ .s = s,
                               .simd = fenp_simd_get(),
                               .mine = k,
                               .degree = degree,
                               .split = degree < 3 ? degree - 1 : 2,
                               .c = c,
                               .weighed = own + levels * s->n,
                               .om = own + (levels + 1) * s->n,
                               .slope = own + (levels + 1 + s->scored) * s->n,
                               .value = values + k * s->count };
        for (int64_t i = 0; i < s->n; i++) own[i] = (REAL)start;
        for (int64_t i = 0; i < s->scored * s->n; i++) buckets[k].om[i] = 0.0;
        walk(&buckets[k], own, 0, 0, 0, 1.0);
    }
}

static fen_status add_features(const fenp_tree *s, int64_t degree, double c, long double start,
                               long double *value, fenp_sums *out, int64_t *nodes, fen_error *err)
{
    const int64_t each = bucket_numbers(s->n, s->p, s->scored, degree);
    REAL *work = fenp_new(each, BUCKETS * (int64_t)sizeof *work);
    long double *values = fenp_new_zeroed(s->count, BUCKETS * (int64_t)sizeof *values);
    fen_status status = FEN_OK;
    if (work && values) {
        bucket buckets[BUCKETS];
        fill(s, degree, c, start, work, values, buckets);
        *nodes = gather(s, buckets, value, out);
    } else {
        status = fenp_no_memory(err, fenp_bytes(each, BUCKETS, sizeof *work), "the certificate");
    }
    free(work);
    free(values);
    return status;
}

#undef bucket
#undef odd_power
#undef combine
#undef leaves_of
#undef multiply
#undef walk
#undef gather
#undef dot
#undef fill
#undef add_features
