// What gen_sno_series(), gen_gid_series() and so on share. They return ids one by one, so memory does not grow with the
// count, and take numbers from the same lease as single calls, so all ids of a session are in order.
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

// Decides when a series reads the clock: if ids are generated fast, only for one in 16. At a steady pace, times are at
// most one tick behind the clock. After a pause of the caller, up to 15 ids have the time before it.
struct Pace {
    const void* of = nullptr;  // the generator that it was last used for
    uint64 tick = 0;           // of the last id for which the clock was read
    uint32 size = 0;
    uint32 unchecked = 0;  // how many ids are still to come before the next reading of the clock

    static constexpr uint32 most = 16;

    // The clock was read for an id of the generator `what`, and showed `now`. As many ids as this tick had before, at
    // most 15, follow without reading it.
    void note(const void* what, uint64 now) {
        size = what == of && now == tick ? std::min(2 * size, most) : 1;
        unchecked = size - 1;
        of = what;
        tick = now;
    }
};

template <generator::ClaimFunction claim, class TickNow>
[[gnu::noinline]] next_number::Id take_at_clock(Pace& p, Generator& g, TickNow tick_now) {
    CHECK_FOR_INTERRUPTS();
    const next_number::Id id = next_number::take<claim>(g, tick_now);
    p.note(&g, id.tick);
    return id;
}

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

inline int64 checked_count(int64 count) {
    if (count < 0) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must not be negative"),
                        errdetail("The count is " INT64_FORMAT ".", count)));
    }
    return count;
}

// The next row of a set-returning function. A zeroed `State` lives from the first row to the last. `start(State&)`
// fills it and returns the number of rows; `next(State&)` returns one, which may point into the state.
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
    // SRF_PERCALL_SETUP() without a call of its function.
    auto* context = static_cast<FuncCallContext*>(fcinfo->flinfo->fn_extra);
    auto* call = static_cast<Call*>(context->user_fctx);
    if (call->left == 0) SRF_RETURN_DONE(context);
    const Datum result = next(call->state);
    call->left--;
    SRF_RETURN_NEXT(context, result);
}

}  // namespace snowflake_ids::series
