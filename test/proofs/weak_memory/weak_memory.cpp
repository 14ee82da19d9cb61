// weak_memory: the ledger's protocol under the C++11 memory model, as Relacy explores it. With the code's orders, and
// then with seq_cst only where weakest_orders.hpp needs it, no scene fails. Then one order at a time is weakened: a
// scene fails, or weakest_orders.hpp says why not.
//
// usage: weak_memory [ITERATIONS [all|found|scenes [SHARE SHARES]]]
//   ITERATIONS  of each scene (default: 20000)
//   found       only weakened orders that a scene must find, and no table
//   SHARE       from 0: every SHARES-th scene and site only
//
// The number of the execution seeds chance, so each run is the same.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "feed_wait_scenes.hpp"
#include "server_scenes.hpp"
#include "slot_choice_scenes.hpp"
#include "slot_scenes.hpp"
#include "weakest_orders.hpp"

namespace snowflake_ids::weak_memory {
namespace {

struct Outcome {
    bool good;
    unsigned long executions;
};

template <class Scene>
Outcome explore(unsigned long iterations, bool trace) {
    std::ostream nothing(nullptr);
    rl::test_params p;
    p.iteration_count = iterations;
    if constexpr (requires { Scene::times; }) p.iteration_count *= Scene::times;
    p.output_stream = trace ? &std::cout : &nothing;
    p.progress_stream = &nothing;
    const bool good = rl::simulate<Scene>(p);
    return {good, static_cast<unsigned long>(p.stop_iteration)};
}

struct SceneEntry {
    const char* name;
    Outcome (*explore)(unsigned long, bool);
};
template <class... Scenes>
std::vector<SceneEntry> scenes_of() {
    return {{Scenes::name, explore<Scenes>}...};
}
const std::vector<SceneEntry> scenes =
    scenes_of<Regressions, HeldTicks, Floor, FloorApplied, Lead, ForcedSlot, LifeBegins, Ceilings, ForcedReset, Leases,
              SlotChosen, NewSlotAndFloor, Superseded, SleeperAndWriters>();

struct Figures {
    unsigned long executions = 0;
    unsigned weakened = 0, found = 0, passed = 0, findings = 0;
};
Figures figures;

void find(const std::string& what) {
    figures.findings++;
    std::printf("FINDING: %s\n", what.c_str());
}

// ---- sites

std::string function_of(const Site& s) {
    std::string f = s.at.function_name();
    f.resize(std::min(f.find('('), f.size()));
    return f.substr(f.find_last_of(": ") + 1);
}
std::string title_of(const Site& s) {
    unsigned nth = 1, of = 1;
    for (unsigned i = 0; i < sites.count; i++) {
        const Site& other = sites.site[i];
        if (&other == &s || other.word != s.word || other.operation != s.operation ||
            function_of(other) != function_of(s))
            continue;
        of++;
        if (std::pair(other.at.line(), other.at.column()) < std::pair(s.at.line(), s.at.column())) nth++;
    }
    return function_of(s) + ": " + s.word + "." + name_of(s.operation) + (of > 1 ? " " + std::to_string(nth) : "");
}

bool suffices(std::memory_order a, std::memory_order b) {
    using enum std::memory_order;
    return a == b || b == relaxed || a == seq_cst || (a == acq_rel && b != seq_cst);
}

std::vector<std::memory_order> weaker(const Site& s) {
    using enum std::memory_order;
    std::vector<std::memory_order> orders;
    if (s.order != relaxed) orders.push_back(relaxed);
    if (s.order != seq_cst) return orders;
    if (s.operation != Operation::store) orders.push_back(acquire);
    if (s.operation != Operation::load) orders.push_back(release);
    if (orders.size() == 3) orders.push_back(acq_rel);
    return orders;
}

const Expected* expected_of(const Site& s) {
    const std::string title = title_of(s);
    for (const Expected& e : expectations) {
        if (title == e.site) return &e;
    }
    return nullptr;
}

std::string why(const std::string& title, std::memory_order order) {
    if (order == std::memory_order_relaxed) return "as weak as can be";
    for (const Reason& r : reasons) {
        if (title.starts_with(r.sites)) return std::string("no scene sees it: ") + r.why;
    }
    return {};
}

const SceneEntry* weaken(const Site& s, std::memory_order order, unsigned long iterations, unsigned long& executions) {
    weakening.site = &s;
    weakening.order = order;
    const SceneEntry* by = nullptr;
    executions = 0;
    for (std::size_t i = 0; i < scenes.size() && by == nullptr; i++) {
        if ((s.scenes >> i & 1) == 0) continue;
        const Outcome o = scenes[i].explore(iterations, false);
        executions += o.executions;
        if (!o.good) by = &scenes[i];
    }
    weakening.site = nullptr;
    figures.executions += executions;
    return by;
}

void check(const Site& s, unsigned long iterations, bool only_found) {
    const std::string title = title_of(s);
    const Expected* expected = expected_of(s);
    const std::memory_order needs = expected != nullptr ? expected->needs : std::memory_order_relaxed;
    std::string line;
    std::vector<std::memory_order> harmless;
    for (const std::memory_order order : weaker(s)) {
        const bool must = !suffices(order, needs);
        if (only_found && !must) continue;
        figures.weakened++;
        bool no_matter = false;
        for (const std::memory_order h : harmless) no_matter |= suffices(order, h);
        unsigned long executions = 0;
        const SceneEntry* by = no_matter ? nullptr : weaken(s, order, iterations, executions);
        if (by == nullptr) {
            harmless.push_back(order);
        } else {
            figures.found++;
            line += std::string(name_of(order)) + ": " + by->name + " (" + std::to_string(executions) + "); ";
        }
        if (must == (by != nullptr))
            figures.passed++;
        else
            find(title + " as " + name_of(order) + (must ? " is found by no scene" : " was not to matter"));
    }
    if (line.empty() && !only_found) {
        line = why(title, s.order);
        if (line.empty()) find(title + ": no scene sees it, and weakest_orders.hpp has no reason");
    }
    if (!only_found)
        std::printf("| `%s` | %s | %s | %s |\n", title.c_str(), name_of(s.order), name_of(needs), line.c_str());
    std::fflush(stdout);
}

// Scenes and sites part, part + of, part + 2 * of and so on.
struct Share {
    unsigned part = 0, of = 1;
};

void run_scenes(unsigned long iterations, Share share) {
    for (std::size_t i = share.part; i < scenes.size(); i += share.of) {
        const SceneEntry& scene = scenes[i];
        const Outcome o = scene.explore(iterations, false);
        figures.executions += o.executions;
        if (o.good) {
            figures.passed++;
            continue;
        }
        find(std::string(scene.name) + ": " + complaint);
        (void) scene.explore(o.executions, true);
    }
}

// Noting sites takes time.
void find_sites(unsigned long iterations) {
    for (std::size_t i = 0; i < scenes.size(); i++) {
        sites.scene = 1u << i;
        (void) scenes[i].explore(iterations < 20000 ? iterations : 20000, false);
    }
    sites.scene = 0;
}

void cap() {
    weakening.capped = true;
    for (unsigned i = 0; i < sites.count; i++) {
        const Expected* e = expected_of(sites.site[i]);
        if (e != nullptr && e->needs == std::memory_order_seq_cst)
            weakening.kept[weakening.kept_count++] = &sites.site[i];
    }
}

}  // namespace
}  // namespace snowflake_ids::weak_memory

int main(int argc, char** argv) {
    using namespace snowflake_ids::weak_memory;
    const unsigned long iterations = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
    const bool only_found = argc > 2 && std::string(argv[2]) == "found";
    const bool only_scenes = argc > 2 && std::string(argv[2]) == "scenes";
    Share share;
    if (argc > 4) {
        share = {static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)),
                 static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10))};
    }
    if (iterations == 0 || share.part >= share.of) {
        std::fprintf(stderr, "usage: weak_memory [ITERATIONS [all|found|scenes [SHARE SHARES]]]\n");
        return 2;
    }
    const auto start = std::chrono::steady_clock::now();
    find_sites(iterations);
    run_scenes(iterations, share);
    cap();
    run_scenes(iterations, share);
    if (!only_found && !only_scenes && share.part == 0)
        std::printf(
            "| site | order | needs | weaker orders: found by (after), or why they do not matter "
            "|\n|---|---|---|---|\n");
    for (unsigned i = share.part; i < sites.count && !only_scenes; i += share.of)
        check(sites.site[i], iterations, only_found);
    for (const Expected& e : expectations) {
        if (only_scenes) break;  // a mutant may have other sites
        bool there = share.part != 0;
        for (unsigned i = 0; i < sites.count && !there; i++) there = title_of(sites.site[i]) == e.site;
        if (!there) find(std::string(e.site) + " is in weakest_orders.hpp, and no scene comes there");
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("scenes: %zu sites: %u executions: %lu weakened: %u found: %u seconds: %.0f\n", scenes.size(),
                sites.count, figures.executions, figures.weakened, figures.found, seconds);
    std::printf("%u passed, %u failed\n", figures.passed, figures.findings);
    return figures.findings == 0 ? 0 : 1;
}
