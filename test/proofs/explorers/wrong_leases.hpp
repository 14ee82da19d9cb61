// Leases of session.hpp that are wrong on purpose, one rule broken in each.
#pragma once

#include "explorers/session.hpp"

namespace snowflake_ids::test {

struct LeaseOutlivesItsTick : RightSteps {
    template <class Now, class SameView>
    static bool serves(const ledger::Lease& l, Now, SameView same_view) {
        return ledger::serves(
            l, [&] { return l.tick; }, same_view);
    }
};

struct LeaseOutlivesItsView : RightSteps {
    template <class Now, class SameView>
    static bool serves(const ledger::Lease& l, Now now, SameView) {
        return ledger::serves(l, now, [] { return true; });
    }
};

struct LeaseOutlivesAFloor : RightSteps {
    template <class H, class G>
    static bool is_stale(const H& header, const G& g, Value changes) {
        (void) header.revision.load();  // others may come here
        return g.changes != changes;
    }
};

struct LeaseKeptBySetUp : RightSteps {
    static void new_lease(ledger::Lease&) {}
};

struct LeaseWhileHeld : RightSteps {
    static std::uint32_t begin_lease(ledger::Lease& l, ledger::Claim c, std::uint32_t want) {
        c.standing = {};
        return ledger::begin_lease(l, c, want);
    }
};

// The rest of a held tick's numbers is given up.
struct HeldNumbersGivenUp : RightSteps {
    static std::uint32_t begin_lease(ledger::Lease& l, const ledger::Claim& c, std::uint32_t want) {
        const std::uint32_t given_up = ledger::begin_lease(l, c, want);
        if (c.standing.held) l.want = 1;
        return given_up;
    }
};

// Not as many as the tick had left.
struct LeaseOfAllThatWasWanted : RightSteps {
    static std::uint32_t begin_lease(ledger::Lease& l, ledger::Claim c, std::uint32_t want) {
        c.count = want;
        return ledger::begin_lease(l, c, want);
    }
};

struct LeaseWithoutBound : RightSteps {
    static std::uint32_t lease_size(const ledger::Lease& l, bool same_view, std::uint32_t) {
        return ledger::lease_size(l, same_view, ~std::uint32_t{0});
    }
};

// The tick-tock bit as it is now, not as it was at the claim.
struct LeaseWithTheSlotsToggle : RightSteps {
    static std::uint32_t toggle_of(const ledger::Number&, World& w) {
        return ledger::unpack(w.slot.word.load(), 0, true).toggle();
    }
};

}  // namespace snowflake_ids::test
