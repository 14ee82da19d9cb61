// Set-returning generators. Ids are streamed: the memory does not grow with the count.
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

// When to read the clock again. If ids are generated at a steady pace, their time is at most one tick behind the clock.
// If the caller pauses, up to 15 ids have the time from before the pause.
struct Pace {
    const void* of = nullptr;  // the generator that it was last used for
    uint64 tick = 0;
    uint32 size = 0;
    uint32 unchecked = 0;  // ids that may still be given without reading the clock

    static constexpr uint32 most = 16;

    // Call this when the clock was read and showed the tick `now`. As many ids as were generated in this tick so far
    // may then follow without reading the clock.
    void note(const void* what, uint64 now) {
        size = what == of && now == tick ? std::min(2 * size, most) : 1;
        unchecked = size - 1;
        of = what;
        tick = now;
    }
};

// Takes one number after reading the clock.
template <generator::ClaimFunction claim, class TickNow>
[[gnu::noinline]] next_number::Id take_at_clock(Pace& p, Generator& g, TickNow tick_now) {
    CHECK_FOR_INTERRUPTS();
    const next_number::Id id = next_number::take<claim>(g, tick_now);
    p.note(&g, id.tick);
    return id;
}

// Takes one number, mostly without reading the clock. `g` must be set up; `tick_now(g)` is the clock's tick, 0 if it is
// outside the format.
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

// The count argument; an error if it is negative.
inline int64 checked_count(int64 count) {
    if (count < 0) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must not be negative"),
                        errdetail("The count is " INT64_FORMAT ".", count)));
    }
    return count;
}

// One call of a set-returning function: returns the next row. `State` is in the memory of the call. `start(State&)`
// fills it once and returns the count. `next(State&)` gives one Datum. A by-reference result may point into the state,
// because both only have to last until the next row is asked for.
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
    // What SRF_PERCALL_SETUP() does, without its call.
    auto* context = static_cast<FuncCallContext*>(fcinfo->flinfo->fn_extra);
    auto* call = static_cast<Call*>(context->user_fctx);
    if (call->left == 0) SRF_RETURN_DONE(context);
    const Datum result = next(call->state);
    call->left--;
    SRF_RETURN_NEXT(context, result);
}

}  // namespace snowflake_ids::series
