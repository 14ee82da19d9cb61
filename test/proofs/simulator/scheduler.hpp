// The scheduler: processes take turns on one thread, in virtual time. Its random numbers, from a seed, decide all.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/time.hpp"

namespace snowflake_ids::simulator {

using namespace std::chrono_literals;

// SplitMix64 (Steele, Lea and Flood, 2014).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class T>
    T of(std::initializer_list<T> values) {
        return values.begin()[below(values.size())];
    }

private:
    std::uint64_t state_;
};

struct Fiber {
    std::function<void()> body;
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    MonotonicTime wakes{};
    bool over = false;
};

class Scheduler {
public:
    Random random;
    MonotonicTime now{};
    std::uint64_t switch_one_in;     // one step in so many may switch
    std::uint64_t most_per_step_us;  // the longest time that a step takes

    explicit Scheduler(std::uint64_t seed) : random(seed) {
        switch_one_in = random.of({2, 4, 10, 40});
        most_per_step_us = random.of({0, 1, 5, 50});
    }
    ~Scheduler() {
        for (auto& f : fibers_) spare_stacks().push_back(std::move(f->stack));
    }

    std::shared_ptr<Fiber> start(std::function<void()> body) {
        auto f = std::make_shared<Fiber>();
        fibers_.push_back(f);
        f->body = std::move(body);
        f->wakes = now;
        f->stack = take_stack();
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack.get();
        f->context.uc_stack.ss_size = stack_bytes;
        f->context.uc_link = &main_;
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&f->context, reinterpret_cast<void (*)()>(&Scheduler::run), 2, static_cast<unsigned>(address >> 32),
                    static_cast<unsigned>(address));
        return f;
    }

    static void kill(Fiber& f) { f.over = true; }

    void step() {
        if (current_ == nullptr) return;
        now += microseconds{random.below(most_per_step_us + 1)};
        if (!random.one_in(switch_one_in)) return;
        sleep(microseconds{random.one_in(2000) ? random.below(3000000) : 0});
    }
    void sleep(microseconds d) {
        if (current_ == nullptr) return;
        current_->wakes = now + d;
        swapcontext(&current_->context, &main_);
    }
    Fiber* current() const { return current_; }

    void run_until(MonotonicTime end) {
        while (now < end) {
            Fiber* next = nullptr;
            std::uint64_t ready = 0;
            MonotonicTime first = end;
            for (std::size_t i = 0; i < fibers_.size(); i++) {
                if (fibers_[i]->over) {
                    spare_stacks().push_back(std::move(fibers_[i]->stack));
                    fibers_.erase(fibers_.begin() + static_cast<std::ptrdiff_t>(i--));
                    continue;
                }
                Fiber* f = fibers_[i].get();
                if (f->wakes <= now) {
                    if (random.below(++ready) == 0) next = f;
                } else if (f->wakes < first) {
                    first = f->wakes;
                }
            }
            if (next == nullptr) {
                now = first;
                continue;
            }
            current_ = next;
            swapcontext(&main_, &next->context);
            current_ = nullptr;
        }
    }

private:
    static constexpr std::size_t stack_bytes = 256 << 10;  // lifting a ceiling has the ceiling file on it, twice

    static std::vector<std::unique_ptr<char[]>>& spare_stacks() {
        static std::vector<std::unique_ptr<char[]>> spare;
        return spare;
    }
    static std::unique_ptr<char[]> take_stack() {
        auto& spare = spare_stacks();
        if (spare.empty()) return std::unique_ptr<char[]>(new char[stack_bytes]);
        auto stack = std::move(spare.back());
        spare.pop_back();
        return stack;
    }
    static void run(unsigned high, unsigned low) {
        auto* self = reinterpret_cast<Scheduler*>(std::uintptr_t{high} << 32 | low);
        self->current_->body();
        self->current_->over = true;
    }

    std::vector<std::shared_ptr<Fiber>> fibers_;
    Fiber* current_ = nullptr;
    ucontext_t main_{};
};

inline Scheduler* scheduler = nullptr;

}  // namespace snowflake_ids::simulator
