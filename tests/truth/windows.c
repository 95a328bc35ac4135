/* Simulated windows: the latencies of each half second, as the engine's histograms keep them.

   windows SEED WINDOWS SECONDS RATE KIND [PARAMETER ...]

   Arrivals are random (Poisson), RATE a second. An operation is in the half second in which it
   ends, or in the last half second if it ends after the window. Written for each half second, as 64-bit
   integers: the number of its buckets, then for each the latency in nanoseconds and a count. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state[2];

static uint64_t next(void) { /* xorshift128+ */
    uint64_t a = state[0], b = state[1];
    state[0] = b;
    a ^= a << 23;
    state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return state[1] + b;
}

static double uniform(void) { return ((double)(next() >> 11) + 0.5) / 9007199254740992.0; }
static double exponential(double mean) { return -mean * log(uniform()); }

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Three significant digits: 1,024 to 2,048 buckets for each power of two. */
static int64_t bucket(double seconds) {
    int64_t ns = (int64_t)(seconds * 1e9), power = 0;
    while (ns >> (power + 11)) power++;
    return ns >> power << power;
}

static int64_t **latencies;
static long *counts, *places;

static void record(long half_second, double seconds) {
    if (counts[half_second] == places[half_second]) {
        places[half_second] = places[half_second] ? 2 * places[half_second] : 64;
        latencies[half_second] =
            realloc(latencies[half_second], (size_t)places[half_second] * sizeof(int64_t));
    }
    latencies[half_second][counts[half_second]++] = bucket(seconds);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void write_half_second(long n) {
    int64_t *value = latencies[n], *out = malloc((size_t)(2 * counts[n] + 1) * sizeof *out);
    long buckets = 0;
    qsort(value, (size_t)counts[n], sizeof *value, ascending);
    for (long k = 0; k < counts[n]; k++) {
        if (k == 0 || value[k] != value[k - 1]) {
            buckets++;
            out[2 * buckets - 1] = value[k];
            out[2 * buckets] = 0;
        }
        out[2 * buckets]++;
    }
    out[0] = buckets;
    fwrite(out, sizeof *out, (size_t)(2 * buckets + 1), stdout);
    free(out);
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    long seed = atol(argv[1]), windows = atol(argv[2]);
    double seconds = atof(argv[3]), rate = atof(argv[4]);
    const char *kind = argv[5];
    double a = argc > 6 ? atof(argv[6]) : 0, b = argc > 7 ? atof(argv[7]) : 0;
    long half_seconds = lround(2 * seconds);
    state[0] = (uint64_t)seed * 2654435761u + 1;
    state[1] = 88172645463325252ull;
    for (int n = 0; n < 50; n++) next();
    latencies = calloc((size_t)half_seconds, sizeof *latencies);
    counts = calloc((size_t)half_seconds, sizeof *counts);
    places = calloc((size_t)half_seconds, sizeof *places);
    for (long window = 0; window < windows; window++) {
        memset(counts, 0, (size_t)half_seconds * sizeof *counts);
        if (kind[0] == 'm') { /* mm1, md1, me1 or mh1: one server, A of it used */
            double service = a / rate, relaxed = service / pow(1 - sqrt(a), 2);
            double free_at = -1e9;
            for (double at = -20 * relaxed; (at += exponential(1 / rate)) < seconds;) {
                double took = exponential(service);
                if (kind[1] == 'd') took = service;
                if (kind[1] == 'e') took = (exponential(service) + exponential(service)) / 2;
                if (kind[1] == 'h') /* a tenth takes B times as long as the others */
                    took = exponential(service / (0.9 + 0.1 * b) * (uniform() < 0.1 ? b : 1));
                free_at = (free_at > at ? free_at : at) + took;
                if (at < 0) continue;
                long n = (long)(2 * free_at);
                record(n < half_seconds ? n : half_seconds - 1, free_at - at);
            }
            for (long n = 0; n < half_seconds; n++) write_half_second(n);
            continue;
        }
        double level = b * normal(), edge = -1, phase = a * uniform();
        int slow = uniform() < 0.5;
        long last = -1;
        if (!strcmp(kind, "spells")) edge = exponential(a);
        if (!strcmp(kind, "stalls")) edge = phase;
        if (!strcmp(kind, "random-stalls")) edge = exponential(a);
        for (double at = 0; (at += exponential(1 / rate)) < seconds;) {
            long n = (long)(2 * at);
            double scale = 1, wait = 0;
            if (!strcmp(kind, "ar")) { /* correlation A of half seconds, deviation B of the scale */
                for (; last < n; last++)
                    if (last >= 0) level = a * level + b * sqrt(1 - a * a) * normal();
                scale = exp(level);
            } else if (!strcmp(kind, "spells")) { /* B times as slow in spells of A seconds */
                for (; at >= edge; slow = !slow) edge += exponential(a);
                scale = slow ? b : 1;
            } else if (!strcmp(kind, "period")) { /* slow for half of each A seconds */
                scale = fmod(at + phase, a) < a / 2 ? b : 1;
            } else if (!strcmp(kind, "drift")) { /* by a share of A */
                scale = 1 + a * (at / seconds - 0.5);
            } else if (!strcmp(kind, "warm")) { /* A times as slow, fading in B of the window */
                scale = 1 + (a - 1) * exp(-at / (seconds * b));
            } else if (!strcmp(kind, "stalls")) { /* every A seconds, of B seconds */
                double into = fmod(at + phase, a);
                wait = into < b ? b - into : 0;
            } else if (!strcmp(kind, "random-stalls")) { /* every A seconds on average, of B */
                while (at >= edge + b) edge += b + exponential(a);
                wait = at >= edge ? edge + b - at : 0;
            } else if (strcmp(kind, "even")) {
                return 2;
            }
            record(n, 1e-3 * scale * exp(0.4 * normal()) + wait);
        }
        for (long n = 0; n < half_seconds; n++) write_half_second(n);
    }
    return fflush(stdout) != 0;
}
