// What the functions gen_sno_series(), gen_gid_series() and so on have in common. They return their ids one by one, so
// the memory does not grow with the count.
//
// Numbers come from the generator's lease (next_number.hpp), which single calls use as well. So all ids of a session
// are in order. If ids are generated fast, a series reads the clock only for one id in 16: see Pace.
#pragma once

#include <algorithm>

#include "pg/generate/next_number.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
#include "funcapi.h"
#include "nodes/supportnodes.h"
}

namespace snowflake_ids::series {

// Decides when a series reads the clock again. If ids are generated at a steady pace, their time is at most one tick
// behind the clock. If the caller pauses, up to 15 ids have the time from before the pause.
struct Pace {
    const void* of = nullptr;  // the generator that it was last used for
    uint64 tick = 0;           // of the last id for which the clock was read
    uint32 size = 0;           // how many ids the last reading of the clock is used for
    uint32 unchecked = 0;      // how many of them are still to come

    static constexpr uint32 most = 16;

    // Call this after the clock was read for an id of the generator `what`, which got the tick `now`. As many ids as
    // were generated in this tick before, but at most 15, may then follow without reading the clock.
    void note(const void* what, uint64 now) {
        size = what == of && now == tick ? std::min(2 * size, most) : 1;
        unchecked = size - 1;
        of = what;
        tick = now;
    }
};

// The part of take() that reads the clock. It also handles interrupts.
template <generator::ClaimFunction claim, class TickNow>
[[gnu::noinline]] next_number::Id take_at_clock(Pace& p, Generator& g, TickNow tick_now) {
    CHECK_FOR_INTERRUPTS();
    const next_number::Id id = next_number::take<claim>(g, tick_now);
    p.note(&g, id.tick);
    return id;
}

// Takes the next number of `g`, which must be set up. `tick_now(g)` returns the clock's tick, or 0 if the clock is
// outside the format. It is not called for a number that `p` allows without it. Waits or raises an error as
// next_number::take() does.
template <generator::ClaimFunction claim, class TickNow>
inline next_number::Id take(Pace& p, Generator& g, TickNow tick_now) {
    Lease& l = g.lease;
    if (likely(p.unchecked != 0 && p.of == &g && l.next < l.end && next_number::same_view(g))) {
        p.unchecked--;
        l.used++;
        return {l.tick, l.toggle, l.next++};
    }
    return take_at_clock<claim>(p, g, tick_now);
}

// Returns the argument `count` of a series. Raises an error if it is negative.
inline int64 checked_count(int64 count) {
    if (count < 0) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must not be negative"),
                        errdetail("The count is " INT64_FORMAT ".", count)));
    }
    return count;
}

// The body of a set-returning function: returns its next row, or says that there is none. A `State` of zeros is created
// with the first row, and lasts until the last one. `start(State&)` fills it and returns how many rows there are.
// `next(State&)` returns the Datum of one row. A Datum that is passed by reference may point into the state, because it
// has to last only until the next row is asked for.
template <class State, class Start, class Next>
inline Datum return_rows(FunctionCallInfo fcinfo, Start start, Next next) {
    struct Call {
        State state;
        int64 left;
    };
    if (SRF_IS_FIRSTCALL()) {
        FuncCallContext* context = SRF_FIRSTCALL_INIT();
        auto* call = static_cast<Call*>(MemoryContextAllocZero(context->multi_call_memory_ctx, sizeof(Call)));
        call->left = start(call->state);
        context->user_fctx = call;
    }
    // This is what SRF_PERCALL_SETUP() does, without a call of its function.
    auto* context = static_cast<FuncCallContext*>(fcinfo->flinfo->fn_extra);
    auto* call = static_cast<Call*>(context->user_fctx);
    if (call->left == 0) SRF_RETURN_DONE(context);
    const Datum result = next(call->state);
    call->left--;
    SRF_RETURN_NEXT(context, result);
}

}  // namespace snowflake_ids::series
