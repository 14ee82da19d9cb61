// A directory in memory, if there is one, removed at the end.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fuzz.hpp"

namespace snowflake_ids::fuzz {

inline const char* directory() {
    static char path[64];
    if (path[0] == 0) {
        std::snprintf(path, sizeof path, "%s/sfids-fuzz.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        require(mkdtemp(path) != nullptr);
        std::atexit([] { std::filesystem::remove_all(path); });
    }
    return path;
}

}  // namespace snowflake_ids::fuzz
