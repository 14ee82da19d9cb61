// Leases of ledger_session.hpp that are wrong on purpose, one rule broken in each.
#pragma once

#include "support/ledger_session.hpp"

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
    static constexpr bool set_up_again_after_floor = false;
};

struct LeaseKeptBySetUp : RightSteps {
    static constexpr bool lease_ends_with_set_up = false;
};

struct StandbyNeverSetUpAgain : RightSteps {
    static constexpr bool set_up_again_in_recovery = false;
};

struct LeaseWhileHeld : RightSteps {
    static void begin_lease(ledger::Lease& l, ledger::Claim c, std::uint32_t want) {
        c.standing = {};
        ledger::begin_lease(l, c, want);
    }
};

// The rest of a held tick's numbers is given up.
struct HeldNumbersGivenUp : RightSteps {
    static void begin_lease(ledger::Lease& l, const ledger::Claim& c, std::uint32_t want) {
        ledger::begin_lease(l, c, want);
        if (c.standing.held) l.want = 1;
    }
};

// Not as many as the tick had left.
struct LeaseOfAllThatWasWanted : RightSteps {
    static void begin_lease(ledger::Lease& l, ledger::Claim c, std::uint32_t want) {
        c.count = want;
        ledger::begin_lease(l, c, want);
    }
};

struct LeaseWithoutBound : RightSteps {
    static std::uint32_t lease_size(const ledger::Lease& l, bool same_view, std::uint32_t) {
        return ledger::lease_size(l, same_view, ~std::uint32_t{0});
    }
};

// The tick-tock bit as it is now, not as it was at the claim.
struct LeaseWithTheSlotsToggle : RightSteps {
    static std::uint32_t toggle_of(const ledger::Lease&, World& w) {
        return ledger::unpack(w.slot.word.load(), 0, true).toggle();
    }
};

}  // namespace snowflake_ids::test
