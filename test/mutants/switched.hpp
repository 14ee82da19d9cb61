// Mutants that are chosen when a test program starts: tools/mutants writes these calls into a copy of core and ledger.
// So one build has all of them. In a constant expression no mutant is chosen; those are compiled one by one.
//
//   MUTANT           the number of the one that is chosen
//   MUTANTS_REACHED  a file with one byte for each: which of them were evaluated
#pragma once

#include <cstdlib>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mutants {

inline constexpr int most = 65536;

inline int chosen() {
    const char* number = std::getenv("MUTANT");
    return number != nullptr ? std::atoi(number) : 0;
}

// Shared, so that child processes add to it.
inline unsigned char* reached() {
    const char* name = std::getenv("MUTANTS_REACHED");
    const int fd = name != nullptr ? open(name, O_RDWR) : -1;
    if (fd < 0) return nullptr;
    void* map = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? nullptr : static_cast<unsigned char*>(map);
}

inline const int the_chosen = chosen();
inline unsigned char* const the_reached = reached();

constexpr bool on(int n) {
    if (std::is_constant_evaluated()) return false;
    if (the_reached != nullptr) the_reached[n] = 1;
    return the_chosen == n;
}

// A literal: as it is, one more, one less, 0. The numbers of those that are no mutants are 0.
template <class T>
constexpr T number(T value, int more, int less, int none) {
    if (more != 0 && on(more)) return static_cast<T>(value + 1);
    if (less != 0 && on(less)) return static_cast<T>(value - 1);
    if (none != 0 && on(none)) return T{};
    return value;
}

struct Not {
    int n;
    template <class T>
    constexpr bool operator->*(T&& value) const {
        return static_cast<bool>(value) == on(n);
    }
};

// `a < b` becomes `a < Op{n} < b`, which has the same operands: operators of one precedence are taken from the left.
struct Op {
    int n;
};
template <class T>
struct Left {
    T value;
    int n;
};

#define MUTANTS_PAIR(ours, theirs)                                               \
    template <class T>                                                           \
    constexpr Left<T&&> operator ours(T&& left, Op op) {                         \
        return {static_cast<T&&>(left), op.n};                                   \
    }                                                                            \
    template <class L, class R>                                                  \
    constexpr auto operator ours(Left<L> left, R&& right) {                      \
        using Value = decltype(static_cast<L>(left.value) ours right);           \
        if constexpr (requires { static_cast<Value>(left.value theirs right); }) \
            if (on(left.n)) return static_cast<Value>(left.value theirs right);  \
        return static_cast<Value>(static_cast<L>(left.value) ours right);        \
    }
MUTANTS_PAIR(<, <=)
MUTANTS_PAIR(<=, <)
MUTANTS_PAIR(>, >=)
MUTANTS_PAIR(>=, >)
MUTANTS_PAIR(==, !=)
MUTANTS_PAIR(!=, ==)
MUTANTS_PAIR(+, -)
MUTANTS_PAIR(-, +)
MUTANTS_PAIR(<<, >>)
MUTANTS_PAIR(>>, <<)
MUTANTS_PAIR(&, |)
MUTANTS_PAIR(|, &)
#undef MUTANTS_PAIR

template <class R>
struct Right {
    R&& value;
    int n;
};
#define MUTANTS_ASSIGNMENT(ours, theirs)                                                                          \
    template <class R>                                                                                            \
    constexpr Right<R> operator ours(Op op, R&& right) {                                                          \
        return {static_cast<R&&>(right), op.n};                                                                   \
    }                                                                                                             \
    template <class T, class R>                                                                                   \
    constexpr T& operator ours(T& left, Right<R> right) {                                                         \
        return on(right.n) ? left theirs static_cast<R&&>(right.value) : left ours static_cast<R&&>(right.value); \
    }
MUTANTS_ASSIGNMENT(+=, -=)
MUTANTS_ASSIGNMENT(-=, +=)
#undef MUTANTS_ASSIGNMENT

template <int n, class T>
constexpr const T& min(const T& a, const T& b) {
    return (b < a) != on(n) ? b : a;
}
template <int n, class T>
constexpr const T& max(const T& a, const T& b) {
    return (a < b) != on(n) ? b : a;
}

}  // namespace mutants
