// clock: steps the wall clock of one server until it is killed.
//
// usage: clock FILE HIGH BEHIND
//   FILE     the control file of test/support/clock_shim.c
//   HIGH     a file with the highest offset so far of all servers
//   BEHIND   seconds that this clock is behind in its first 20 s
//
// Most steps are small, around the highest time ever shown, so that the tick-tock bit is needed. A few are an hour.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "record.hpp"

namespace {

std::atomic<std::int64_t>* map(const char* path) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void* p = fd < 0 ? MAP_FAILED : mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) storm::die(std::string("cannot map ") + path);
    return static_cast<std::atomic<std::int64_t>*>(p);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) storm::die("usage: clock FILE HIGH BEHIND");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::atomic<std::int64_t>* offset = map(argv[1]);
    std::atomic<std::int64_t>* high = map(argv[2]);
    const double behind = std::atof(argv[3]);
    std::mt19937_64 random(static_cast<std::uint64_t>(getpid()));
    const auto between = [&](double low, double top) {
        return std::uniform_real_distribution<double>(low, top)(random);
    };

    const time_t start = time(nullptr);
    for (;;) {
        const double p = between(0, 1);
        double step = 0;
        if (p < 0.55)
            step = between(-2, 0.2);
        else if (p < 0.80)
            step = between(0, 2);
        else if (p < 0.95)
            step = between(-60, -2);
        else if (p < 0.99)
            step = between(-10800, -3600);
        else
            step = between(60, 1200);
        if (time(nullptr) - start < 20) step -= behind;
        const std::int64_t to = high->load() + static_cast<std::int64_t>(step * 1e9);
        offset->store(to);
        std::int64_t seen = high->load();
        while (seen < to && !high->compare_exchange_weak(seen, to)) {}
        usleep(static_cast<unsigned>(between(20000, 500000)));
    }
}
