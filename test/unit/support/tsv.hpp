// Reads the golden files in test/vectors: `#` lines, column names, rows separated by tabs. No quoting.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace snowflake_ids::test {

inline std::string vectors_directory() {
    if (const char* from_environment = std::getenv("TEST_VECTORS")) return from_environment;
#ifdef TEST_VECTORS
    return TEST_VECTORS;
#else
    return "test/vectors";
#endif
}

inline std::uint64_t to_u64(const std::string& s) {
    std::size_t used = 0;
    if (s.empty() || s[0] < '0' || s[0] > '9') throw std::runtime_error("not an unsigned number: '" + s + "'");
    const std::uint64_t v = std::stoull(s, &used, 10);
    if (used != s.size()) throw std::runtime_error("not an unsigned number: '" + s + "'");
    return v;
}

inline std::int64_t to_i64(const std::string& s) {
    std::size_t used = 0;
    const std::int64_t v = std::stoll(s, &used, 10);
    if (used != s.size()) throw std::runtime_error("not a number: '" + s + "'");
    return v;
}

class Table;

class Row {
public:
    Row(const Table& table, std::vector<std::string> cells) : table_(&table), cells_(std::move(cells)) {}

    const std::string& operator[](const char* column) const;
    std::uint64_t u64(const char* column) const { return to_u64((*this)[column]); }
    std::uint32_t u32(const char* column) const { return static_cast<std::uint32_t>(u64(column)); }
    std::int64_t i64(const char* column) const { return to_i64((*this)[column]); }
    bool empty(const char* column) const { return (*this)[column].empty(); }

    std::string where() const;
    std::size_t line = 0;

private:
    const Table* table_;
    std::vector<std::string> cells_;
};

class Table {
public:
    explicit Table(std::string file) : file_(std::move(file)) {
        std::ifstream in(vectors_directory() + "/" + file_, std::ios::binary);
        if (!in) throw std::runtime_error("cannot open " + vectors_directory() + "/" + file_);
        std::string text;
        for (std::size_t line = 1; std::getline(in, text); line++) {
            if (!text.empty() && text[0] == '#') continue;
            std::vector<std::string> cells = split(text);
            if (columns_.empty()) {
                for (std::size_t i = 0; i < cells.size(); i++) columns_[cells[i]] = i;
                continue;
            }
            if (cells.size() != columns_.size())
                throw std::runtime_error(file_ + ":" + std::to_string(line) + ": wrong number of cells");
            rows_.emplace_back(*this, std::move(cells)).line = line;
        }
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    const std::string& file() const { return file_; }
    const std::vector<Row>& rows() const { return rows_; }
    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }

    std::size_t column(const char* name) const {
        const auto found = columns_.find(name);
        if (found == columns_.end()) throw std::runtime_error(file_ + " has no column " + name);
        return found->second;
    }

private:
    static std::vector<std::string> split(const std::string& text) {
        std::vector<std::string> cells;
        std::size_t from = 0;
        for (std::size_t tab; (tab = text.find('\t', from)) != std::string::npos; from = tab + 1)
            cells.push_back(text.substr(from, tab - from));
        cells.push_back(text.substr(from));
        return cells;
    }

    std::string file_;
    std::unordered_map<std::string, std::size_t> columns_;
    std::vector<Row> rows_;
};

inline const std::string& Row::operator[](const char* column) const { return cells_[table_->column(column)]; }

inline std::string Row::where() const {
    return table_->file() + ":" + std::to_string(line) + " " + cells_[0] + " " + cells_[1];
}

// So that a truncated file, or a loop that ends early, does not pass.
inline void expect_count(const std::string& what, std::size_t ran, std::size_t expected) {
    std::printf("[rows] %s %zu\n", what.c_str(), ran);
    std::string key = "rows_" + what;
    for (char& c : key)
        if (c == ' ' || c == '.') c = '_';
    ::testing::Test::RecordProperty(key, static_cast<int>(ran));
    EXPECT_EQ(ran, expected) << what;
}

}  // namespace snowflake_ids::test
