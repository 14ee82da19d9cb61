// The ceiling file as a crash, a disk, another cluster or another version may have left it: read as it was written, or
// refused at the first wrong entry and left as it is.
#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "directory.hpp"
#include "ledger/ceiling_file.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;
using namespace snowflake_ids::ledger;

namespace {

constexpr std::uint64_t cluster = 7123456789012345678;
constexpr std::size_t header_words = 7;
constexpr std::size_t checksum_at = (header_words - 1) * 8;
using Bytes = std::vector<unsigned char>;

std::uint64_t word_at(const Bytes& b, std::size_t offset) {
    std::uint64_t v;
    std::memcpy(&v, b.data() + offset, sizeof v);
    return v;
}
void put_word(Bytes& b, std::size_t offset, std::uint64_t v) { std::memcpy(b.data() + offset, &v, sizeof v); }

// As the file's description says; not the library's code.
std::uint64_t sum(std::uint64_t start, const std::uint64_t* words, std::size_t n) {
    for (std::size_t i = 0; i <= n; i++) {
        start = (start ^ (i < n ? words[i] : 0)) * 0x9e3779b97f4a7c15;
        start ^= start >> 29;
    }
    return start;
}
std::uint64_t header_sum(const Bytes& b) {
    std::uint64_t words[header_words - 1];
    for (std::size_t i = 0; i < header_words - 1; i++) words[i] = word_at(b, i * 8);
    return sum(1, words, header_words - 1);
}
std::uint64_t entry_sum(const Bytes& b, std::uint32_t i, std::uint64_t system) {
    const std::size_t at = ceiling_header_bytes + i * ceiling_entry_bytes;
    const std::uint64_t words[] = {system, word_at(b, at), word_at(b, at + 8), word_at(b, at + 16)};
    return sum(i + 1, words, 4);
}
struct Expected {
    CeilingError header = CeilingError::none;
    int first_bad = -1;
    Ceilings c;
};

Expected expected(const Bytes& b) {
    Expected e;
    const auto header = [&] {
        if (b.size() != ceiling_file_bytes || word_at(b, 0) != 0x5e0f1a6e1ed6e202) return CeilingError::damaged;
        std::uint32_t version, count;
        std::memcpy(&version, b.data() + 8, 4);
        std::memcpy(&count, b.data() + 12, 4);
        if (version != 1) return CeilingError::other_version;
        if (count != slot_count || word_at(b, checksum_at) != header_sum(b)) return CeilingError::damaged;
        return word_at(b, 16) == cluster ? CeilingError::none : CeilingError::foreign;
    };
    e.header = header();
    if (e.header != CeilingError::none) return e;
    e.c.life = {word_at(b, 24), word_at(b, 32)};
    e.c.floor = std::bit_cast<Floor>(word_at(b, 40));
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const std::size_t at = ceiling_header_bytes + i * ceiling_entry_bytes;
        const std::uint64_t key = word_at(b, at), packed_layout = word_at(b, at + 8), ms = word_at(b, at + 16),
                            check = word_at(b, at + 24);
        if (check == entry_sum(b, i, cluster) && (key != 0 || (packed_layout | ms) == 0))
            e.c.entries[i] = {key, packed_layout, std::bit_cast<Ceiling>(ms)};
        else if (e.first_bad < 0)
            e.first_bad = static_cast<int>(i);
    }
    return e;
}

bool same(const Ceilings& a, const Ceilings& b) {
    return a.life == b.life && a.floor == b.floor && std::memcmp(a.entries, b.entries, sizeof a.entries) == 0;
}

void put_file(const Bytes& b) {
    static int fd = -1;
    char path[128];
    std::snprintf(path, sizeof path, "%s/%s", directory(), ceiling_file_name);
    if (fd >= 0) close(fd);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && pwrite(fd, b.data(), b.size(), 0) == static_cast<ssize_t>(b.size()));
}

const CeilingPlace& place() {
    static const CeilingPlace p{directory(), 0600, cluster, false, [] {}};
    return p;
}

void check(const Bytes& b) {
    const Expected e = expected(b);
    const Exact exact(b.data(), b.size());
    Ceilings c;
    if (b.size() <= sizeof c) std::memcpy(&c, exact.data(), b.size());
    const CeilingResult r = verify_ceilings(c, b.size(), cluster);
    if (e.header != CeilingError::none) {
        require(r.error == e.header && r.slot == -1);
    } else {
        require(r.error == (e.first_bad < 0 ? CeilingError::none : CeilingError::damaged) && r.slot == e.first_bad);
    }
    if (r.error == CeilingError::none) require(same(c, e.c));

    put_file(b);
    LockedCeilings file(place()), other(place());
    require(file.open().error == CeilingError::none);
    require(file.read(c).error == r.error);
    require(other.open().error == CeilingError::busy);
    if (r.error != CeilingError::none) return;
    require(file.write(c).error == CeilingError::none);
    Ceilings again;
    require(file.read(again).error == CeilingError::none);
    require(same(again, c));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Numbers in(data, size);
    const auto how = in.take<std::uint8_t>();
    Ceilings c;
    c.life = {in.take<std::uint32_t>(), in.take<std::uint32_t>()};
    c.floor = Floor{milliseconds{in.take<std::uint32_t>()}};
    for (unsigned n = how & 7; n > 0; n--) {
        const std::uint32_t slot = in.take<std::uint16_t>() % slot_count;
        c.entries[slot] = {in.take<std::uint64_t>(), in.take<std::uint32_t>(),
                           std::bit_cast<Ceiling>(in.take<std::uint64_t>())};
    }
    Bytes b(ceiling_file_bytes);
    const std::uint64_t system = cluster + (how & 8);
    seal_ceilings(c, system);
    std::memcpy(b.data(), &c, sizeof c);
    // Damage: bits of the header or an entry; then sums that fit, as only a changed program writes them.
    for (unsigned n = in.take<std::uint8_t>() % 8; n > 0; n--) {
        const auto where = in.take<std::uint16_t>();
        const std::size_t at =
            where & 1 ? (where >> 1) % (header_words * 8) : (where >> 1) % (b.size() / 4) * 4 + where % 3;
        b[at] = static_cast<unsigned char>(b[at] ^ in.take<std::uint8_t>());
    }
    if (how & 16) put_word(b, checksum_at, header_sum(b));
    if (how & 32) {
        const std::uint32_t i = in.take<std::uint16_t>() % slot_count;
        put_word(b, ceiling_header_bytes + i * ceiling_entry_bytes + 24, entry_sum(b, i, cluster));
    }
    if (how & 64) b.resize(in.take<std::uint32_t>() % (2 * ceiling_file_bytes));
    check(b);
    return 0;
}
