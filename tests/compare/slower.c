/*
 * Makes a server slower for some of its clients: answers that leave by the port in SLOWER_PORT
 * cost the share in SLOWER more of its CPU time. Loaded with LD_PRELOAD.
 *
 * Every EACH-th write() reads how much CPU time the process has used since the last reading. If the
 * answer leaves by that port, it then spins for the share of this time. Everything else, including
 * the reading, is the same for all clients.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 8 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static ssize_t (*next)(int, const void *, size_t);
static double share, last;
static int port;
static unsigned writes;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((constructor)) static void start(void)
{
    const char *how_much = getenv("SLOWER"), *where = getenv("SLOWER_PORT");
    next = dlsym(RTLD_NEXT, "write");
    share = how_much ? atof(how_much) : 0;
    port = where ? atoi(where) : 0;
}

static int leaves_by_it(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    return getsockname(fd, (struct sockaddr *)&own, &size) == 0 && own.sin_family == AF_INET
           && ntohs(own.sin_port) == port;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (share > 0 && __atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED) % EACH == 0
        && pthread_mutex_trylock(&turn) == 0) {
        double now = cpu_s(), until = now;
        if (leaves_by_it(fd))
            until += share * (now - last);
        while ((last = cpu_s()) < until)
            ;
        pthread_mutex_unlock(&turn);
    }
    return next(fd, bytes, count);
}
