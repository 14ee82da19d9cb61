// A data directory with its ceiling file, and server lives in it. Syncs fail on demand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/ceiling_file.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/formats.hpp"
#include "ledger/session.hpp"
#include "support/ledger_process.hpp"
#include "support/times.hpp"

namespace snowflake_ids::test {

// Called at each sync and lock; an errno that it returns is the answer.
inline std::function<int()> on_sync, on_lock;

// Nothing is synced, but only an open file can be.
inline int answer_sync(int fd) {
    if (on_sync) errno = on_sync();
    return (on_sync ? errno == 0 : fcntl(fd, F_GETFD) >= 0) ? 0 : -1;
}

}  // namespace snowflake_ids::test

extern "C" [[gnu::used]] inline int fdatasync(int fd) { return snowflake_ids::test::answer_sync(fd); }
extern "C" [[gnu::used]] inline int flock(int fd, int operation) {
    if (const int error = snowflake_ids::test::on_lock ? snowflake_ids::test::on_lock() : 0) {
        errno = error;
        return -1;
    }
    return static_cast<int>(syscall(SYS_flock, fd, operation));
}

namespace snowflake_ids::ledger {

constexpr Ceiling now = test::unix_ms(1798761600000);
constexpr Key sno{Format::sno, 3, 0}, mastic{Format::snowflake, 0, 0}, of_calls{Format::sno_at, 9, 5};

}  // namespace snowflake_ids::ledger

namespace snowflake_ids::test {

struct DataDirectory {
    static constexpr std::uint64_t cluster = 7123456789012345678;

    TemporaryDirectory dir;
    ledger::CeilingPlace place{dir.c_str(), 0600, cluster, true, [] {}};
    std::filesystem::path path = dir / ledger::ceiling_file_name;

    ~DataDirectory() { on_sync = on_lock = nullptr; }
    std::string bytes() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put(const std::string& bytes) const {
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        EXPECT_TRUE(out.good());
    }
    void put(ledger::Ceilings c) const {
        std::string bytes(ledger::ceiling_file_bytes, '\0');
        ledger::seal_ceilings(c, cluster);
        std::memcpy(bytes.data(), &c, sizeof c);
        put(bytes);
    }
    ledger::Ceilings content() const {
        const std::string b = bytes();
        ledger::Ceilings c;
        std::memcpy(&c, b.data(), std::min(b.size(), sizeof c));
        const ledger::CeilingResult r = ledger::verify_ceilings(c, b.size(), cluster);
        EXPECT_EQ(r.error, ledger::CeilingError::none) << "slot " << r.slot;
        return c;
    }
};

inline constexpr ledger::Along no_others{ledger::max_ceiling, {}};  // no ceiling is above max_ceiling

// The part of a Host (ledger/session.hpp) that a life and its floors need, with a real file and memory. Does not wait.
struct FileHost : ledger::Steps, ledger::SlotFormats {
    const ledger::CeilingPlace& place;
    const ledger::Ledger& ledger;
    std::uint64_t id;
    Floor at_least;
    bool& began;
    ledger::CeilingResult result{};

    ledger::Header& header() const { return *ledger.header; }
    static std::uint32_t count() { return ledger::slot_count; }
    auto slots() const { return ledger::slot_at(ledger); }
    static UnixTime wall() { return ledger::wall_clock(); }
    static microseconds window() { return 2s; }
    std::uint64_t random_id() const { return id; }
    void life_began() const { began = true; }
    template <class Done, class Work>
    bool locked(Done, Work work) {
        result = ledger::with_ceilings(place, work);
        return result.error == ledger::CeilingError::none;
    }
    // With the floor that a test chooses.
    template <class SlotAt, class Resume, class File>
    ledger::CeilingResult begin_locked_life(ledger::Header& header, std::uint32_t n, SlotAt slot, Resume resume,
                                            const File& file, std::uint64_t id, Floor, std::uint64_t least_number) {
        return Steps::begin_locked_life(header, n, slot, resume, file, id, at_least, least_number);
    }
};

inline ledger::CeilingResult begin_life(const ledger::CeilingPlace& place, const ledger::Ledger& ledger,
                                        std::uint64_t id, Floor at_least, bool& began) {
    FileHost host{{}, {}, place, ledger, id, at_least, began = false};
    (void) ledger::begin_life(host);
    return host.result;
}
inline ledger::CeilingError begin_life(const DataDirectory& data, const ledger::Ledger& ledger, std::uint64_t id,
                                       Floor at_least = {}) {
    bool began;
    return begin_life(data.place, ledger, id, at_least, began).error;
}
inline ledger::CeilingResult lift_ceiling(const ledger::CeilingPlace& place, const ledger::Ledger& ledger,
                                          const ledger::Slot& slot, Ceiling least, ledger::Along along) {
    bool began;
    FileHost host{{}, {}, place, ledger, 0, {}, began};
    return ledger::with_ceilings(
        place, [&](const auto& file) { return ledger::lift_ceiling(host, slot, least, along, file); });
}
inline void lift_floor(const ledger::Ledger& ledger, Floor floor) {
    bool began;
    FileHost host{{}, {}, {}, ledger, 0, {}, began};
    ledger::lift_floor(host, floor);
}
inline void apply_floor(const ledger::Ledger& ledger, ledger::Slot& slot) {
    bool began;
    FileHost host{{}, {}, {}, ledger, 0, {}, began};
    ledger::apply_floor(host, slot);
}

struct ServerLife {
    LedgerMemory memory;
    ledger::Ledger ledger = memory.make();
    const DataDirectory& data;

    ServerLife(const DataDirectory& data, std::uint64_t id, Floor at_least = {}) : data(data) {
        EXPECT_EQ(begin_life(data, ledger, id, at_least), ledger::CeilingError::none);
    }

    ledger::Slot& slot(const ledger::Key& key, std::uint64_t packed_layout = 0) const {
        if (key.format == ledger::Format::snowflake && packed_layout == 0) packed_layout = ledger::packed_mastic;
        return *ledger::find_slot(ledger, key, true, packed_layout);
    }
    std::uint32_t index(const ledger::Slot& slot) const { return static_cast<std::uint32_t>(&slot - ledger.slots); }
    ledger::CeilingResult lift(const ledger::Slot& slot, Ceiling least, ledger::Along along = no_others) const {
        return test::lift_ceiling(data.place, ledger, slot, least, along);
    }
    ledger::CeilingError lifted(const ledger::Slot& slot, Ceiling least) const { return lift(slot, least).error; }
    ledger::Life life() const { return ledger::life_of(*ledger.header); }
    Ceiling in_file(const ledger::Slot& slot) const { return data.content().entries[index(slot)].ceiling; }
    static UnixTime stands_at(const ledger::Slot& slot) {
        const State state = ledger::unpack(slot.word.load(), 0, ledger::has_toggle(ledger::format_of(slot)));
        return ledger::timeline_of(slot).start(state.tick);
    }
};

}  // namespace snowflake_ids::test
