// The ledger's memory: made, found by other processes, refused if another version made it.
#include "ledger/shared_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ledger/find_slot.hpp"
#include "support/ledger_process.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr UnixTime made_at = unix_us(1798761600000000);

struct LedgerMade : testing::Test {
    LedgerMemory memory;
    Ledger made = make_ledger(memory.data(), made_at);
};

TEST_F(LedgerMade, Bytes) {
    EXPECT_EQ(made.header, memory.data());
    EXPECT_EQ(reinterpret_cast<char*>(made.slots) - reinterpret_cast<char*>(made.header), 4096);
    EXPECT_EQ(made.header->magic, 0x5e0f1a6e1ed6e201u);
    EXPECT_EQ(made.header->version, memory_version);
    EXPECT_EQ(made.header->bytes, 4096u + 1024 * 128 + 1024 * 64);
    EXPECT_EQ(LedgerMemory::bytes, made.header->bytes);
    EXPECT_EQ(made.header->stats_since.load(), made_at);
    EXPECT_EQ(made.header->life_id.load(), 0u);
    EXPECT_EQ(reinterpret_cast<char*>(made.groups) - reinterpret_cast<char*>(made.slots), 1024 * 128);
    for (std::size_t i = 0; i < slot_count; i++) {
        for (std::size_t j = 0; j < sizeof(Slot) / sizeof(Word); j++) {
            ASSERT_EQ(reinterpret_cast<Word*>(&made.slots[i])[j].load(), 0u);
        }
    }
}

TEST_F(LedgerMade, IsFound) {
    made.slots[5].word.store(42);
    const Ledger found = find_ledger(memory.data(), LedgerMemory::bytes);
    ASSERT_TRUE(found);
    EXPECT_EQ(found.header, made.header);
    EXPECT_EQ(found.slots[5].word.load(), 42u);
    // The server may round the size up.
    EXPECT_TRUE(find_ledger(memory.data(), LedgerMemory::bytes + 4096));
}

TEST_F(LedgerMade, IsFoundAtAnotherAddress) {
    const int fd = memfd_create("ledger", MFD_CLOEXEC);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(ftruncate(fd, LedgerMemory::bytes), 0);
    const auto map = [fd] { return mmap(nullptr, LedgerMemory::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); };
    void* here = map();
    Slot* slot = find_slot(make_ledger(here, made_at), {Format::sno, 7, 0});
    const pid_t pid = spawn([&] {
        void* there = map();
        const Ledger found = find_ledger(there, LedgerMemory::bytes);
        if (there == here || !found) return 1;
        find_slot(found, {Format::sno, 7, 0}, false)->word.store(43);
        return 0;
    });
    EXPECT_EQ(wait_for(pid), 0);
    EXPECT_EQ(slot->word.load(), 43u);
    munmap(here, LedgerMemory::bytes);
    close(fd);
}

// Each of the header's constants counts.
TEST_F(LedgerMade, OfAnotherVersion) {
    constexpr std::size_t constants = offsetof(Header, life_id);
    unsigned char good[constants];
    std::memcpy(good, memory.data(), constants);
    const auto refused = [&](auto change) {
        change(*made.header);
        EXPECT_FALSE(find_ledger(memory.data(), LedgerMemory::bytes));
        EXPECT_EQ(find_ledger(memory.data(), LedgerMemory::bytes).slots, nullptr);
        std::memcpy(memory.data(), good, constants);
        EXPECT_TRUE(find_ledger(memory.data(), LedgerMemory::bytes));
    };
    refused([](Header& h) { h.magic ^= 1; });
    refused([](Header& h) { h.version++; });
    refused([](Header& h) { h.version = 0; });
    refused([](Header& h) { h.slot_bytes *= 2; });
    refused([](Header& h) { h.slot_count--; });
    refused([](Header& h) { h.group_count++; });
    refused([](Header& h) { h.bytes--; });
    refused([](Header& h) { h.bytes++; });
}

TEST_F(LedgerMade, OfAnotherSize) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{4095}, LedgerMemory::bytes - 1})
        EXPECT_FALSE(find_ledger(memory.data(), bytes)) << bytes;
    EXPECT_TRUE(find_ledger(memory.data(), LedgerMemory::bytes));
    LedgerMemory zeros;
    EXPECT_FALSE(find_ledger(zeros.data(), LedgerMemory::bytes));
}

}  // namespace
}  // namespace snowflake_ids::ledger
