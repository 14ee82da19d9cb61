// The bytes of the ceiling file, whatever may have happened to them.
#include "ledger/ceiling_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/ledger_data_directory.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t cluster = DataDirectory::cluster;

Ceilings example() {
    Ceilings c;
    c.life = {1798761600, 0x123456789abcdef0};
    c.floor = now - 1000ms;
    c.entries[0] = {sno.pack(), 0, now};
    c.entries[7] = {mastic.pack(), packed_mastic, max_ceiling};
    c.entries[1023] = {of_calls.pack(), 0, unix_ms(1)};
    return c;
}

constexpr std::size_t header_bytes_used = 56;
using Bytes = std::vector<unsigned char>;

Bytes encoded(Ceilings c, std::uint64_t system_identifier = cluster) {
    Bytes bytes(ceiling_file_bytes, 0xff);
    seal_ceilings(c, system_identifier);
    std::memcpy(bytes.data(), &c, sizeof c);
    return bytes;
}
CeilingResult decoded(const Bytes& bytes, Ceilings& c, std::uint64_t system_identifier = cluster) {
    std::memcpy(&c, bytes.data(), std::min(bytes.size(), sizeof c));
    return verify_ceilings(c, bytes.size(), system_identifier);
}
CeilingError error_of(const Bytes& bytes) {
    Ceilings c;
    return decoded(bytes, c).error;
}

void expect_same(const Ceilings& a, const Ceilings& b) {
    EXPECT_EQ(a.life, b.life);
    EXPECT_EQ(a.floor, b.floor);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        ASSERT_EQ(a.entries[i].key, b.entries[i].key) << i;
        ASSERT_EQ(a.entries[i].packed_layout, b.entries[i].packed_layout) << i;
        ASSERT_EQ(a.entries[i].ceiling, b.entries[i].ceiling) << i;
    }
}

// A file of 1.0 stays valid. (Its numbers have the byte order of the machine.)
TEST(LedgerCeilingBytes, Known) {
    if constexpr (std::endian::native != std::endian::little) GTEST_SKIP();
    std::uint64_t sum = 0;
    for (const unsigned char byte : encoded(example())) sum = sum * 31 + byte;
    EXPECT_EQ(sum, 14627522303978590666u);
}

TEST(LedgerCeilingBytes, ComeBack) {
    const auto there_and_back = [](const Ceilings& c) {
        Ceilings back = example();
        back.entries[5] = {1, 2, unix_ms(3)};
        EXPECT_EQ(decoded(encoded(c), back).error, CeilingError::none);
        expect_same(back, c);
    };
    there_and_back({});
    there_and_back(example());
    Ceilings full = example();
    for (std::uint32_t i = 0; i < slot_count; i++)
        full.entries[i] = {Key{Format::sno, 7, i}.pack(), i, now + milliseconds{i}};
    there_and_back(full);
}

// The file has the byte order of the machine; what follows is for little-endian ones.
constexpr bool other_order = std::endian::native == std::endian::big;

// A file of the first version that a server had in use (tools/keep-version) is read and written byte for byte.
TEST(LedgerCeilingBytes, FirstVersion) {
    if (other_order) GTEST_SKIP() << "big-endian";
    const std::string path = vectors_directory() + "/../kept/1.0/ceiling";
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(bytes.size(), ceiling_file_bytes) << path;
    std::uint64_t of;
    std::memcpy(&of, bytes.data() + 16, sizeof of);
    Ceilings c;
    ASSERT_EQ(decoded(bytes, c, of).error, CeilingError::none);
    const auto used =
        std::count_if(std::begin(c.entries), std::end(c.entries), [](const auto& e) { return e.key != 0; });
    EXPECT_GE(used, 4);
    EXPECT_EQ(encoded(c, of), bytes);
}

TEST(LedgerCeilingBytes, Places) {
    const Bytes bytes = encoded(example());
    EXPECT_EQ(bytes.size(), 36864u);
    const auto word = [&](std::size_t offset) {
        std::uint64_t v;
        std::memcpy(&v, bytes.data() + offset, sizeof v);
        return v;
    };
    EXPECT_EQ(word(0), 0x5e0f1a6e1ed6e202u);
    std::uint32_t version, count;
    std::memcpy(&version, bytes.data() + 8, 4);
    std::memcpy(&count, bytes.data() + 12, 4);
    EXPECT_EQ(version, 1u);
    EXPECT_EQ(count, 1024u);
    EXPECT_EQ(word(16), cluster);
    EXPECT_EQ(word(24), 1798761600u);
    EXPECT_EQ(word(32), 0x123456789abcdef0u);
    EXPECT_EQ(word(40), 1798761600000u - 1000);
    EXPECT_EQ(word(4096 + 7 * 32), mastic.pack());
    EXPECT_EQ(word(4096 + 7 * 32 + 8), packed_mastic);
    EXPECT_EQ(word(4096 + 7 * 32 + 16), (std::uint64_t{1} << 48) - 1);
    EXPECT_NE(word(4096 + 7 * 32 + 24), 0u);
    for (std::size_t at = header_bytes_used; at < bytes.size(); at += 8) {
        const std::size_t entry = at < 4096 ? 1 : (at - 4096) / 32;
        if (entry == 0 || entry == 7 || entry == 1023) continue;
        if (at >= 4096 && at % 32 == 24)
            ASSERT_NE(word(at), 0u) << "a free entry has check bits " << at;
        else
            ASSERT_EQ(word(at), 0u) << at;
    }
}

TEST(LedgerCeilingBytes, FlippedBits) {
    const Ceilings c = example();
    Bytes bytes = encoded(c);
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit++) {
        const auto flip = [&] { bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1 << bit % 8); };
        const std::size_t byte = bit / 8;
        if (byte >= header_bytes_used && byte < 4096) continue;
        flip();
        Ceilings back;
        const CeilingResult r = decoded(bytes, back);
        ASSERT_NE(r.error, CeilingError::none) << "bit " << bit;
        if (byte >= 8 && byte < 12) {
            ASSERT_EQ(r.error, CeilingError::other_version) << "bit " << bit;
        } else {
            ASSERT_EQ(r.error, CeilingError::damaged) << "bit " << bit;
            ASSERT_EQ(r.slot, byte < 4096 ? -1 : static_cast<int>((byte - 4096) / 32)) << "bit " << bit;
        }
        flip();
    }
    for (std::size_t byte = header_bytes_used; byte < 4096; byte++) bytes[byte] = 0xff;
    Ceilings back;
    EXPECT_EQ(decoded(bytes, back).error, CeilingError::none);
    expect_same(back, c);
}

TEST(LedgerCeilingBytes, EntryInAnotherPlace) {
    Bytes bytes = encoded(example());
    std::memcpy(&bytes[4096 + 8 * 32], &bytes[4096 + 7 * 32], 32);
    Ceilings c;
    EXPECT_EQ(decoded(bytes, c).slot, 8);
}

TEST(LedgerCeilingBytes, OfAnotherCluster) {
    Bytes bytes = encoded(example()), other = encoded(example(), cluster + 1);
    Ceilings c;
    EXPECT_EQ(decoded(bytes, c, cluster + 1).error, CeilingError::foreign);
    std::memcpy(&bytes[4096], &other[4096], 32);
    const CeilingResult r = decoded(bytes, c);
    EXPECT_EQ(r.error, CeilingError::damaged);
    EXPECT_EQ(r.slot, 0);
}

TEST(LedgerCeilingBytes, OfAnotherSize) {
    Bytes bytes = encoded(example());
    bytes.push_back(0);
    EXPECT_EQ(error_of(bytes), CeilingError::damaged);
    for (const std::size_t size : {36863u, 36832u, 8192u, 4096u, 72u, 71u, 1u, 0u}) {
        bytes.resize(size);
        EXPECT_EQ(error_of(bytes), CeilingError::damaged) << size;
    }
}

// Zeros are no free slot.
TEST(LedgerCeilingBytes, ZeroedEntries) {
    const auto zeroed = [](std::size_t at, std::size_t size) {
        Bytes bytes = encoded(example());
        std::fill_n(&bytes[at], size, static_cast<unsigned char>(0));
        return bytes;
    };
    const auto expect_damaged = [](const Bytes& bytes, int slot) {
        Ceilings c;
        const CeilingResult r = decoded(bytes, c);
        EXPECT_EQ(r.error, CeilingError::damaged);
        EXPECT_EQ(r.slot, slot);
    };
    expect_damaged(zeroed(4096, 512), 0);
    expect_damaged(zeroed(4096 + 1023 * 32, 32), 1023);
    expect_damaged(zeroed(4096 + 512, ceiling_file_bytes - 4096 - 512), 16);
    expect_damaged(zeroed(4096 + 5 * 32, 32), 5);
}

TEST(LedgerCeilingBytes, ZeroedHeader) {
    Bytes bytes = encoded(example());
    std::fill_n(bytes.begin(), 512, static_cast<unsigned char>(0));
    EXPECT_EQ(error_of(bytes), CeilingError::damaged);
    EXPECT_EQ(error_of(Bytes(ceiling_file_bytes)), CeilingError::damaged);
}

TEST(LedgerCeilingBytes, EntryWithoutKey) {
    Ceilings c = example(), back;
    c.entries[7].key = 0;
    EXPECT_EQ(decoded(encoded(c), back).error, CeilingError::none);
    EXPECT_EQ(back.entries[7].ceiling, Ceiling{});
}

}  // namespace
}  // namespace snowflake_ids::ledger
