// Set-returning generators: ids are streamed, drawn from the ledger a range at a time,
// with memory that does not grow with the count.
//
// A range is given up when time has moved on, so an id is never older than it looks: its
// tick is compared with the clock every `recheck` ids. It is also given up when a new client
// statement fetches from the set (a cursor): what that client saw in between must sort below.
// So that fetching a few at a time uses up no more than it gives, ranges begin small and grow.
#pragma once

#include <algorithm>

#include "pg/generator.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
#include "funcapi.h"
#include "nodes/supportnodes.h"
}

namespace snowflake_ids::series {

inline constexpr uint32 recheck = 64;
inline constexpr uint32 first_range = 16;

// A range of sequence numbers of one tick.
struct Range {
    uint64 tick = 0;
    uint32 toggle = 0;
    uint32 node = 0;
    uint32 next = 0;
    uint32 check_at = 0;  // before the id of this number the clock is looked at again; at the latest at `end`
    uint32 end = 0;
    uint32 size = 0;    // how many were asked for
    bool held = false;  // the clock was behind the tick when it was drawn
    TimestampTz statement = 0;
    uint64 generation = 0;  // of the settings: under others the node is another one
    uint64 epoch = 0;       // of the ledger: an operator has moved the generators since
};

// How many ids to draw at once: twice as many as the last time, but not more than an eighth
// of the pool, so that single ids of other backends do not wait for a bulk load; an eighth
// smaller than a recheck's worth is rounded up to that.
inline uint32 range_size(uint32 last, int64 left, const Rules& rules) {
    const uint32 pool = rules.max - rules.min + 1;
    const uint32 most = std::max(recheck, pool / 8);
    return static_cast<uint32>(std::min<int64>(left, last == 0 ? first_range : std::min(last * 2, most)));
}

// Another range, or leave for the next `recheck` ids of this one. `ready` gives the
// generator, `tick_now` the clock's tick (0 if it is outside the format: then the range is
// given up and the claim says why).
template <generator::ClaimFunction claim, class Ready, class TickNow>
[[gnu::noinline]] void refill(Range& r, int64 left, Ready ready, TickNow tick_now) {
    Generator& g = ready();
    const TimestampTz statement = GetCurrentStatementStartTimestamp();
    bool usable = r.next < r.end && r.statement == statement && r.generation == g.generation && r.epoch == g.epoch;
    if (usable) {
        const uint64 now = tick_now(g);
        usable = now == r.tick || (r.held && now < r.tick);
    }
    if (r.statement != statement) r.size = 0;
    if (!usable) {
        g.uncounted -= r.end - r.next;  // drawn, but not issued
        CHECK_FOR_INTERRUPTS();
        const uint32 size = range_size(r.size, left, g.rules);
        const ledger::Claim c = generator::draw<claim>(g, size);
        r = {.tick = c.tick,
             .toggle = c.toggle,
             .node = g.node,
             .next = c.first,
             .end = c.first + c.count,
             .size = size,
             .held = c.held,
             .generation = g.generation,
             .epoch = g.epoch};
    }
    r.statement = statement;
    r.check_at = r.next + std::min(recheck, r.end - r.next);
}

// Takes one number from the range, drawing another range if need be.
template <generator::ClaimFunction claim, class Ready, class TickNow>
inline uint32 take(Range& r, int64 left, Ready ready, TickNow tick_now) {
    if (unlikely(r.next == r.check_at || r.statement != GetCurrentStatementStartTimestamp() ||
                 r.epoch != generator::epoch->load(std::memory_order_relaxed))) {
        refill<claim>(r, left, ready, tick_now);
    }
    return r.next++;
}

// The count argument: raises if it is negative.
inline int64 checked_count(int64 count) {
    if (count < 0) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must not be negative"),
                        errdetail("The count is " INT64_FORMAT ".", count)));
    }
    return count;
}

// The skeleton of a series. `State` lives in the call's own memory; `start(State&)` fills it
// once and returns the count; `next(State&, left)` gives one Datum. A by-reference result may
// point into the state: like the per-tuple memory where it would be allocated otherwise, it
// has to last until the next row is asked for.
template <class State, class Start, class Next>
inline Datum run(FunctionCallInfo fcinfo, Start start, Next next) {
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
    const Datum result = next(call->state, call->left);
    call->left--;
    SRF_RETURN_NEXT(context, result);
}

}  // namespace snowflake_ids::series
