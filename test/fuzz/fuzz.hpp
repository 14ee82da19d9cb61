// What the fuzz targets share. Each target is one parser; require() says what must hold for every input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/bytes.hpp"

// The name that libFuzzer looks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace snowflake_ids::fuzz {

#define require(condition) ((condition) ? (void) 0 : snowflake_ids::fuzz::violated(#condition, __FILE__, __LINE__))

// libFuzzer keeps the input that led here.
[[noreturn]] inline void violated(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: violated: %s\n", file, line, what);
    std::abort();
}

constexpr int sign(int v) { return (v > 0) - (v < 0); }

// Ends where the heap block ends, so that one byte read too far is seen.
struct Exact {
    char* bytes;
    std::size_t size;

    Exact(const void* from, std::size_t n) : bytes(static_cast<char*>(std::malloc(n != 0 ? n : 1))), size(n) {
        if (n != 0) std::memcpy(bytes, from, n);
    }
    ~Exact() { std::free(bytes); }
    Exact(const Exact&) = delete;
    Exact& operator=(const Exact&) = delete;

    const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes); }
};

// Numbers from the front of the input; zeros after its end.
class Numbers {
public:
    Numbers(const std::uint8_t* data, std::size_t size) : p_(data), left_(size) {}

    template <class T>
    T take() {
        T v = 0;
        for (std::size_t i = 0; i < sizeof(T); i++) {
            v = static_cast<T>(static_cast<std::uint64_t>(v) << 8 | (left_ != 0 ? *p_ : 0u));
            if (left_ == 0) continue;
            p_++;
            left_--;
        }
        return v;
    }

private:
    const std::uint8_t* p_;
    std::size_t left_;
};

}  // namespace snowflake_ids::fuzz
