// What a test expects of an exploration. Each prints one line, which tools/proof-table adds up.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "explorers/explorer.hpp"

namespace snowflake_ids::test {

// In `make test` (tools/test)
inline bool quick() {
    const char* set = std::getenv("QUICK");
    return set && *set;
}

inline Exploration explore(Model& model) {
    const Exploration e = Explorer(model).run();
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    std::printf("%-34s %8zu states %9zu transitions %8zu crashes %7zu prefixes run, longest %2zu; %.1f s%s%s\n",
                test->name(), e.states, e.transitions, e.crashes, e.prefixes, e.longest, e.seconds,
                e.complaint.empty() ? "" : "; found: ", e.complaint.c_str());
    std::fflush(stdout);
    return e;
}

inline void expect_right(Model& model) {
    const Exploration e = explore(model);
    EXPECT_EQ(e.complaint, "") << e.trace;
    EXPECT_TRUE(e.complete);
}

inline void expect_found(Model& model, const std::string& complaint) {
    const Exploration e = explore(model);
    EXPECT_EQ(e.complaint, complaint) << e.trace;
}

}  // namespace snowflake_ids::test
