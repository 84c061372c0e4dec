#!/bin/sh
# 06_which_products_matter.sh -- finds the interaction that made the data
#
# y = 2 x1 x3 - x2^2 + noise among 30 columns: 120 rows to learn from, 500 fresh ones. The same
# data and models as those of 06_which_products_matter.c.
set -e
make_rows() {
    awk '
        function uniform() { state = (16807 * state) % 2147483647; return 2 * state / 2147483647 - 1 }
        BEGIN {
            state = 20
            for (j = 1; j <= 30; j++) printf "x%d,", j
            print "y"
            for (i = 1; i <= 620; i++) {
                for (j = 1; j <= 30; j++) { x[j] = uniform(); printf "%.8f,", x[j] }
                printf "%.8f\n", 2 * x[1] * x[3] - x[2] * x[2] + 0.5 * uniform()
            }
        }'
}
make_rows > all.csv
sed -n '1,121p' all.csv > train.csv
sed -n '1p;122,$p' all.csv > fresh.csv

fenchel fit train.csv --penalty lp:4/3 --kernel tensor-polynomial -o lp.fen > lp.txt
fenchel fit train.csv --kernel polynomial --degree 2 -o ridge.fen > ridge.txt

fenchel info lp.fen --features | sed -n '/^Features/,$p' | sed -n '4,6s/^ *\([^ ]*\).*/\1/p'
fenchel verify lp.fen train.csv | tail -1
for model in lp ridge; do
    printf '%s ' $model
    fenchel predict $model.fen fresh.csv -o $model.csv 2>&1 | sed 's/\(RMSE ....\).*on/\1 on/'
done
