/* tsan_probe.c -- is free of races; a thread sanitizer that sees one here does not know what
 * the OpenMP runtime synchronises, and would see them everywhere */
int main(void)
{
    long sum = 0;
    for (int round = 0; round < 20; round++) {
        long here = round;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
        for (int i = 0; i < 1000; i++) sum += here;
        here = sum;
    }
    return sum == 190000 ? 0 : 1;
}
