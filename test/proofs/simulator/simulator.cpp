// The protocol of the ledger in random histories: the real templates on virtual servers, clock, disk and WAL.
//
// usage: simulator [--seed N] [--seconds N | --histories N] [--length SECONDS] [--wrong NAME] [--verbose]
//   --wrong        replaces a step by a wrong one; fails if the judges do not notice it
//   --list-wrong   the wrong steps
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "simulator/history.hpp"

namespace snowflake_ids::simulator {
namespace {

struct Named {
    const char* name;
    bool Wrong::*flag;
};
constexpr Named wrongs[] = {
    {"publish-unsynced", &Wrong::publish_unsynced}, {"no-fence", &Wrong::no_fence},
    {"begin-too-low", &Wrong::begin_too_low},       {"wal-unread", &Wrong::wal_unread},
    {"lease-too-long", &Wrong::lease_too_long},
};

struct Totals {
    Value histories = 0, ids = 0, claims = 0, lives = 0, fenced = 0, commits = 0;
    microseconds in_all{};
    Faults faults;

    void add(const History& h) {
        histories++;
        ids += h.w.judge.ids;
        claims += h.w.judge.claims;
        lives += h.w.lives;
        fenced += h.w.fenced;
        commits += h.w.judge.commits;
        in_all += h.length();
        faults.crashes += h.faults.crashes;
        faults.orphans += h.faults.orphans;
        faults.power += h.faults.power;
        faults.steps += h.faults.steps;
        faults.disk += h.faults.disk;
        faults.promotions += h.faults.promotions;
        faults.rewinds += h.faults.rewinds;
    }
    void print(double seconds) const {
        const auto line = [](const char* what, Value n) {
            std::printf("| %s | %llu |\n", what, static_cast<unsigned long long>(n));
        };
        std::printf("| | |\n|---|--:|\n");
        line("histories", histories);
        line("virtual seconds", static_cast<Value>(in_all / 1s));
        line("ids", ids);
        line("claims", claims);
        line("committed transactions", commits);
        line("lives of a server", lives);
        line("crashes of a server", faults.crashes);
        line("orphaned processes", faults.orphans);
        line("raises refused by the fence", fenced);
        line("power failures", faults.power);
        line("clock steps", faults.steps);
        line("disk errors", faults.disk);
        line("promotions", faults.promotions);
        line("rewinds with the new primary's ceiling file", faults.rewinds);
        line("seconds", static_cast<Value>(seconds));
    }
};

struct Options {
    Value seed = 1, histories = ~Value{0};
    double seconds = 10;
    microseconds length = 20s;
    Wrong wrong;
    const char* wrong_name = nullptr;
    bool verbose = false;
};

bool parse(int argc, char** argv, Options& o) {
    for (int i = 1; i < argc; i++) {
        const std::string name = argv[i];
        if (name == "--list-wrong") {
            for (const Named& n : wrongs) std::printf("%s\n", n.name);
            std::exit(0);
        }
        if (name == "--verbose") {
            o.verbose = true;
            continue;
        }
        if (++i == argc) return false;
        const char* value = argv[i];
        if (name == "--seed") {
            o.seed = std::strtoull(value, nullptr, 10);
        } else if (name == "--histories") {
            o.histories = std::strtoull(value, nullptr, 10);
            o.seconds = 1e9;
        } else if (name == "--seconds") {
            o.seconds = std::strtod(value, nullptr);
        } else if (name == "--length") {
            o.length = microseconds{static_cast<std::int64_t>(std::strtod(value, nullptr) * 1e6)};
        } else if (name == "--wrong") {
            for (const Named& n : wrongs) {
                if (std::strcmp(n.name, value) == 0) o.wrong.*n.flag = true, o.wrong_name = n.name;
            }
            if (o.wrong_name == nullptr) return false;
        } else {
            return false;
        }
    }
    return true;
}

int run(const Options& o) {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Totals totals;
    for (Value i = 0; i < o.histories && seconds() < o.seconds; i++) {
        const auto history = std::make_unique<History>(o.seed + i, o.wrong);
        history->verbose = o.verbose;
        history->run(o.length);
        totals.add(*history);
        const std::string& fault = history->w.judge.fault;
        if (fault.empty()) continue;
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(o.seed + i), fault.c_str());
        if (o.wrong_name != nullptr) {
            std::printf("%s: noticed after %llu histories\n", o.wrong_name,
                        static_cast<unsigned long long>(totals.histories));
            return 0;
        }
        return 1;
    }
    totals.print(seconds());
    if (o.wrong_name == nullptr) return 0;
    std::printf("%s: not noticed\n", o.wrong_name);
    return 1;
}

}  // namespace
}  // namespace snowflake_ids::simulator

int main(int argc, char** argv) {
    snowflake_ids::simulator::Options options;
    if (!snowflake_ids::simulator::parse(argc, argv, options)) {
        std::fprintf(
            stderr,
            "usage: %s [--seed N] [--seconds N | --histories N] [--length SECONDS] [--wrong NAME] [--verbose]\n",
            argv[0]);
        return 2;
    }
    return snowflake_ids::simulator::run(options);
}
