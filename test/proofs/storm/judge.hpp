// How the storm's counter judges ids: see count.cpp.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "record.hpp"

namespace storm {

struct Draw {
    std::uint8_t id[16];
    std::uint32_t draw;
    std::uint16_t client, node;
    bool exposed, row;
};

inline std::uint64_t number(const std::uint8_t* p, int n) {
    std::uint64_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

inline std::uint32_t machine_id(const Record& r) {
    if (r.format == sno) return static_cast<std::uint32_t>(number(r.bytes + 6, 2));
    if (r.format == snowflake_si) return static_cast<std::uint32_t>(number(r.bytes, 8) >> 8 & 31);
    return 0;
}

// The id's stream, which never goes back, and its place there.
inline std::pair<std::uint32_t, std::uint64_t> place(const Record& r) {
    const std::uint64_t head = number(r.bytes, 8);
    if (r.format == sno) return {machine_id(r) << 1 | (head >> 24 & 1), head >> 25 << 16 | number(r.bytes + 8, 2)};
    return {0x100000u * r.format + machine_id(r), head};
}

struct Judge {
    std::set<std::uint32_t> lossy;
    std::vector<std::string> files;
    unsigned passes = 1;

    bool quiet = false;

    std::uint64_t received[format_count] = {}, rows[format_count] = {}, unseen_rows[format_count] = {};
    std::uint64_t repeated[format_count] = {}, limit[format_count] = {};
    std::uint64_t toggled = 0, disorders = 0, outside = 0, exposed = 0, commits = 0, connections = 0, unexpected = 0;
    std::map<std::string, std::uint64_t> failures;

    template <class Use>
    void for_each(const std::string& path, Use use) {
        std::ifstream in(path, std::ios::binary);
        std::vector<Record> chunk(1 << 15);
        for (;;) {
            in.read(reinterpret_cast<char*>(chunk.data()), static_cast<std::streamsize>(chunk.size() * sizeof(Record)));
            const std::size_t n = static_cast<std::size_t>(in.gcount()) / sizeof(Record);
            if (n == 0) return;
            for (std::size_t i = 0; i < n; i++) use(chunk[i]);
        }
    }

    // From where to where records come after the last commit on a lost node.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> exposed_parts(const std::string& path) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
        std::uint32_t node = 0;
        std::uint64_t at = 0, covered = 0;
        const auto close = [&] {
            if (lossy.count(node) != 0 && covered < at) parts.emplace_back(covered, at);
        };
        for_each(path, [&](const Record& r) {
            if (r.type == Type::connected && r.draw != node) {
                close();
                node = r.draw;
                covered = at;
            }
            at++;
            if (r.type == Type::committed) covered = at;
        });
        close();
        return parts;
    }

    static bool inside(const Record& r) {
        if (r.format == sno) {
            const std::uint64_t sequence = number(r.bytes + 8, 2), metabyte = r.bytes[5];
            if (sequence < sno_sequence_min || sequence > sno_sequence_max) return false;
            const Asked asked = asked_of(r);
            if (asked.explicitly) return metabyte == asked.metabyte && machine_id(r) == asked.partition;
            if (metabyte != 0) return false;
        } else if (r.format != snowflake_si) {
            return true;
        }
        return machine_id(r) <= max_machine_id;
    }

    void check_each(const std::string& path) {
        std::map<std::uint32_t, std::uint64_t> last;
        std::uint32_t node = 0, toggle = 2;
        for_each(path, [&](const Record& r) {
            if (r.type == Type::id || r.type == Type::row) {
                if (!inside(r)) {
                    outside++;
                    if (outside <= 5 && !quiet) {
                        std::printf("  outside its bounds: %s %016lx%04lx, client %u, statement %u, node %u\n",
                                    format_names[r.format], number(r.bytes, 8), number(r.bytes + 8, 2), r.client,
                                    r.draw, node);
                    }
                }
            }
            if (r.type == Type::connected) {
                connections++;
                if (r.draw != node && lossy.count(node) != 0) last.clear();
                node = r.draw;
            } else if (r.type == Type::committed) {
                commits++;
            } else if (r.type == Type::failed) {
                const std::string what(reinterpret_cast<const char*>(r.bytes));
                failures[what]++;
                static const std::set<std::string> expected = {
                    "lost", "57P01", "57P02", "57P03", "57014", "55P03", "25006", "55000 clock", "55000 recovery"};
                if (expected.count(what) == 0) unexpected++;
            } else if (r.type == Type::id && r.format != gid) {
                const auto [stream, position] = place(r);
                const auto found = last.find(stream);
                if (found != last.end() && position <= found->second) {
                    disorders++;
                    if (disorders <= 5 && !quiet) {
                        std::printf(
                            "  out of order: %s %016lx%04lx after position %lx, client %u, statement %u, node %u\n",
                            format_names[r.format], number(r.bytes, 8), number(r.bytes + 8, 2), found->second, r.client,
                            r.draw, node);
                    }
                }
                last[stream] = position;
                if (r.format == sno) {
                    toggled += toggle != 2 && toggle != (stream & 1);
                    toggle = stream & 1;
                }
            }
        });
    }

    static std::uint64_t hash(const Record& r) {
        const auto rest = static_cast<int>(id_size[r.format]) - 8;
        return (number(r.bytes, 8) ^ number(r.bytes + 8, rest)) * 0x9e3779b97f4a7c15 >> 40;
    }

    void collect(const std::string& path, int format, unsigned pass, std::vector<Draw>& draws) {
        const auto parts = exposed_parts(path);
        std::uint64_t at = 0;
        std::size_t part = 0;
        std::uint16_t node = 0;
        for_each(path, [&](const Record& r) {
            if (r.type == Type::connected) node = static_cast<std::uint16_t>(r.draw);
            while (part < parts.size() && at >= parts[part].second) part++;
            const bool in_part = part < parts.size() && at >= parts[part].first;
            at++;
            if ((r.type != Type::id && r.type != Type::row) || r.format != format || hash(r) % passes != pass) return;
            Draw d{};
            std::memcpy(d.id, r.bytes, id_size[format]);
            d.draw = r.draw;
            d.client = r.client;
            d.node = node;
            d.row = r.type == Type::row;
            d.exposed = in_part;
            draws.push_back(d);
        });
    }

    void judge(int format, std::vector<Draw>& draws) {
        const auto compare_ids = [](const Draw& a, const Draw& b) { return std::memcmp(a.id, b.id, sizeof a.id); };
        std::sort(draws.begin(), draws.end(), [&](const Draw& a, const Draw& b) {
            const int c = compare_ids(a, b);
            if (c != 0) return c < 0;
            return a.row < b.row;
        });
        for (std::size_t from = 0, to = 0; from < draws.size(); from = to) {
            while (to < draws.size() && compare_ids(draws[from], draws[to]) == 0) to++;
            // A row covers its draw; a row of which no client heard is a draw of its own.
            std::size_t distinct = 0;
            for (std::size_t i = from; i < to; i++) {
                if (draws[i].row) {
                    rows[format]++;
                    bool heard = false;
                    for (std::size_t j = from; j < to && !draws[j].row; j++) {
                        if (draws[j].client != draws[i].client || draws[j].draw != draws[i].draw) continue;
                        heard = true;
                        draws[j].exposed = false;
                    }
                    if (heard) continue;
                    unseen_rows[format]++;
                } else {
                    received[format]++;
                }
                distinct++;
            }
            for (std::size_t i = from; i < to; i++) exposed += draws[i].exposed;
            if (distinct < 2) continue;
            std::size_t covered = 0;
            bool within_a_node = false;
            for (std::size_t i = from; i < to; i++) {
                if (!draws[i].row) covered += !draws[i].exposed;
                for (std::size_t j = from; j < i; j++)
                    within_a_node |= !draws[i].row && !draws[j].row && draws[i].node == draws[j].node;
            }
            std::size_t received_here = 0;
            for (std::size_t i = from; i < to; i++) received_here += !draws[i].row;
            covered += distinct - received_here;
            const bool is_limit = covered <= 1 && !within_a_node;
            (is_limit ? limit : repeated)[format] += distinct - 1;
            if (!is_limit && repeated[format] <= 5 && !quiet) {
                for (std::size_t i = from; i < to; i++) {
                    std::printf("  repeated: %s %016lx%016lx client %u, statement %u, node %u%s%s\n",
                                format_names[format], number(draws[i].id, 8), number(draws[i].id + 8, 8),
                                draws[i].client, draws[i].draw, draws[i].node, draws[i].row ? ", row" : "",
                                draws[i].exposed ? ", exposed" : "");
                }
            }
        }
    }

    void run(const std::string& dir) {
        std::uint64_t bytes = 0;
        for (const auto& entry : std::filesystem::directory_iterator(dir + "/ids")) {
            files.push_back(entry.path());
            bytes += entry.file_size();
        }
        passes = static_cast<unsigned>(bytes / (600u << 20)) + 1;
        for (const std::string& f : files) check_each(f);
        for (int format = 0; format < format_count; format++) {
            for (unsigned pass = 0; pass < passes; pass++) {
                std::vector<Draw> draws;
                for (const std::string& f : files) collect(f, format, pass, draws);
                judge(format, draws);
            }
        }
    }

    void print() const {
        std::printf("%-14s %12s %12s %12s %10s %18s\n", "format", "received", "rows left", "not received", "repeated",
                    "repeated, exposed");
        for (int f = 0; f < format_count; f++) {
            std::printf("%-14s %12lu %12lu %12lu %10lu %18lu\n", format_names[f], received[f], rows[f], unseen_rows[f],
                        repeated[f], limit[f]);
        }
        std::printf(
            "\n%lu connections, %lu acknowledged commits, tick-tock changed %lu times between two snos of a client\n",
            connections, commits, toggled);
        std::printf("%lu ids out of their client's order\n", disorders);
        std::printf("%lu ids outside the bounds of their generator\n", outside);
        std::printf(
            "%lu ids were exposed: received from a node that was then lost, after the last acknowledged commit\n",
            exposed);
        std::printf("errors by SQLSTATE:");
        for (const auto& [what, n] : failures) std::printf("  %s %lu", what.c_str(), n);
        std::printf("\n");
    }
};

inline std::uint64_t sum(const std::uint64_t (&of)[format_count]) {
    std::uint64_t s = 0;
    for (const std::uint64_t v : of) s += v;
    return s;
}

}  // namespace storm
