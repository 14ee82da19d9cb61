// An exhaustive explorer: runs the real code of several processes through every order of their accesses to shared
// memory, every reading of the clocks, and a crash at every point. Memory is sequentially consistent.
//
// A process runs with the known answers to its accesses up to the next one, where it is thrown out. A tree of answers
// (Continuations) keeps what it asked, so each prefix runs once. A global state is the memory, each process's position
// in that tree, and what the properties remember. The search is breadth first, so that counterexamples are short.
//
// A claim that lost a race begins again. Model::again forgets what it knew before, which saves most states. Without it,
// an exploration that ends also shows that no schedule keeps a process busy for ever.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/claim.hpp"
#include "support/ledger_process.hpp"
#include "support/ledger_watched.hpp"

namespace snowflake_ids::test {

using Value = std::uint64_t;
using Values = std::vector<Value>;

// The <=> of vectors, which less<> takes, looks at too few bytes in libstdc++ before 13.3 on big-endian machines.
struct ValuesOrder {
    bool operator()(const Values& a, const Values& b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

struct IssuedClaim : ledger::Claim {
    Value seen = 0;             // the largest id it had seen when it began
    Value since = 0;            // the clock then
    std::uint32_t claimed = 0;  // numbers taken for it; 0: by an earlier claim
    bool held_before = false;   // the claim before was behind the clock too
    Value revision = 0;         // that it was set up under
    Value memory = 0;           // that it was drawn in
};

struct Request {
    enum Kind : unsigned char { load, swap, store, lock, sync, issue, tick, monotonic } kind = load;
    Cell cell = key_cell;
    Value expected = 0, desired = 0;
    IssuedClaim issued{};  // issue: not an access, takes place at once
};

inline constexpr std::size_t model_cells = 40;
inline constexpr auto first_other_cell = static_cast<Cell>(cell_count), lock_cell = static_cast<Cell>(model_cells - 1);

struct Answer {
    Value value = 0;
    bool ok = true;

    friend bool operator==(const Answer&, const Answer&) = default;
};

class World final : public Watcher {
public:
    struct Stopped {};

    WatchedSlot slot{*this};
    WatchedClock clock{this};
    Request pending;
    microseconds length{1};  // of a tick

    // What the last part of an operation knew; empty: it begins.
    const std::vector<Value> locals;
    std::vector<Value> next_locals;

    World(const std::vector<Answer>& history, std::vector<Value> locals)
        : locals(std::move(locals)), history_(history) {}

    // Ends a part: the operation is called again with `values` in `locals` and knows nothing else, so that equal
    // knowledge is one state.
    [[noreturn]] void go_on_with(std::vector<Value> values) {
        next_locals = std::move(values);
        throw Stopped();
    }

    Answer ask(const Request& r) {
        if (at_ < history_.size()) return history_[at_++];
        pending = r;
        throw Stopped();
    }
    Value load(Cell cell) override { return ask({Request::load, cell}).value; }
    bool swap(Cell cell, Value& expected, Value desired) override {
        const Answer a = ask({Request::swap, cell, expected, desired});
        if (!a.ok) expected = a.value;
        return a.ok;
    }
    void store(Cell cell, Value value) override { ask({Request::store, cell, 0, value}); }
    // Dropped with its holder; does not wait.
    bool lock() { return ask({Request::lock, lock_cell}).ok; }
    void unlock() { store(lock_cell, 0); }
    bool sync(Cell cell) { return ask({Request::sync, cell}).ok; }
    void issue(const IssuedClaim& i) {
        Request r{Request::issue};
        r.issued = i;
        ask(r);
    }
    void issue(const ledger::Claim& c) { issue(IssuedClaim{c}); }
    Result<Value> tick() override {
        const Answer a = ask({Request::tick});
        return a.ok ? Result<Value>(a.value) : Result<Value>(Error::time_before_epoch);
    }
    MonotonicTime monotonic() override { return MonotonicTime{microseconds{ask({Request::monotonic}).value}}; }
    microseconds until(Value) override { return microseconds{1}; }
    microseconds tick_length() override { return length; }

private:
    const std::vector<Answer>& history_;
    std::size_t at_ = 0;
};

using Operation = std::function<ledger::Claim(World&)>;

class Continuations {
public:
    struct Node {
        unsigned operation = 0;
        bool done = false;
        bool begun = false;  // its process has something to lose
        std::vector<Value> locals;
        Request request;       // not done
        ledger::Claim result;  // done
        std::vector<Answer> history;
        std::vector<std::pair<Answer, std::uint32_t>> children;
    };

    std::uint32_t root(const Operation& operation) {
        operations_.push_back(operation);
        return add(static_cast<unsigned>(operations_.size() - 1), {}, {}, false);
    }
    std::uint32_t after(std::uint32_t at, const Answer& answer) {
        for (const auto& [known, child] : nodes_[at].children) {
            if (known == answer) return child;
        }
        std::vector<Answer> history = nodes_[at].history;
        history.push_back(answer);
        const std::uint32_t child = add(nodes_[at].operation, std::move(history), nodes_[at].locals, true);
        nodes_[at].children.emplace_back(answer, child);
        return child;
    }
    const Node& operator[](std::uint32_t i) const { return nodes_[i]; }
    std::size_t size() const { return nodes_.size(); }

private:
    std::uint32_t add(unsigned operation, std::vector<Answer> history, std::vector<Value> locals, bool begun) {
        Node node;
        node.operation = operation;
        node.begun = begun;
        node.history = std::move(history);
        node.locals = locals;
        World world(node.history, std::move(locals));
        try {
            node.result = operations_[operation](world);
            node.done = true;
        } catch (const World::Stopped&) {
            if (!world.next_locals.empty()) {
                const auto [part, is_new] = parts_.try_emplace({operation, world.next_locals}, 0);
                if (is_new) part->second = add(operation, {}, world.next_locals, true);
                return part->second;
            }
            node.request = world.pending;
        }
        nodes_.push_back(std::move(node));
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }

    struct PartOrder {
        bool operator()(const std::pair<unsigned, Values>& a, const std::pair<unsigned, Values>& b) const {
            return a.first != b.first ? a.first < b.first : ValuesOrder()(a.second, b.second);
        }
    };
    std::map<std::pair<unsigned, Values>, std::uint32_t, PartOrder> parts_;
    std::vector<Operation> operations_;
    std::vector<Node> nodes_;
};

inline constexpr std::size_t model_processes = 3, model_ghosts = 4;

struct Position {
    std::uint32_t node = 0;
    std::uint16_t operation = 0;  // operations of its program that have ended
    std::uint16_t program = 0;

    friend auto operator<=>(const Position&, const Position&) = default;
};

struct Global {
    Value memory[model_cells] = {};
    Value monotonic = 0;
    Value ghost[model_ghosts] = {};  // what the properties remember
    Position process[model_processes] = {};

    friend bool operator==(const Global& a, const Global& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(std::has_unique_object_representations_v<Global>, "compared and hashed as bytes");

using Complaint = const char*;  // what is wrong, or null

struct Model {
    virtual ~Model() = default;

    std::vector<Operation> operations;
    // Where each operation starts over: a claim or a floor at a load of the word followed at once by one of `safe`.
    // Empty: forget nothing.
    std::vector<Operation> again;
    std::vector<std::vector<unsigned>> programs;  // indexes of operations, by process
    std::vector<Global> initial;                  // memory, monotonic and ghosts
    bool crashes = true;                          // a process may lose the operation it is in
    std::size_t max_history = 60;                 // accesses of one operation

    virtual void ticks(const Global&, std::vector<Answer>& out) const = 0;
    virtual void monotonics(const Global& g, std::vector<Answer>& out) const { out.push_back({g.monotonic}); }
    // If ticks() looks at the state, reading the clock has its place in the order of events.
    virtual bool clock_has_state() const { return false; }
    virtual Complaint on_access(const Global&, Global&, const Request&, const Answer&) { return nullptr; }
    virtual Complaint on_done(Global&, const ledger::Claim&) { return nullptr; }
    virtual Complaint on_issue(Global& g, const IssuedClaim& i) { return on_done(g, i); }
    // Accesses that come at once with the one before, because nobody can tell when they were.
    virtual bool at_once(const Global&, std::uint8_t, const Request&) const { return false; }
    // Each way in which the sync of what was written to `cell` may end.
    virtual void sync(const Global&, Cell, std::vector<std::pair<Answer, Global>>&) const {}
    virtual Complaint always(const Global&) { return nullptr; }
    // A process that does these one after another.
    void program(std::vector<Operation> of) {
        std::vector<unsigned> indexes;
        for (Operation& o : of) {
            indexes.push_back(static_cast<unsigned>(operations.size()));
            operations.push_back(std::move(o));
        }
        programs.push_back(indexes);
    }
    // What may happen at any time and ends all processes.
    virtual void events(const Global&, std::vector<Global>&) const {}
    // What may happen at any time and ends none.
    virtual void changes(const Global&, std::vector<Global>&) const {}
};

struct Exploration {
    std::size_t states = 0, transitions = 0, prefixes = 0, crashes = 0, longest = 0;
    double seconds = 0;
    bool complete = false;
    std::string complaint;
    std::string trace;
};

class Explorer {
public:
    explicit Explorer(Model& model) : model_(model) {
        for (const Operation& o : model.operations) roots_.push_back(tree_.root(o));
        for (const Operation& o : model.again) again_.push_back(tree_.root(o));
        table_.resize(1 << 16, none);
    }

    Exploration run(std::size_t max_states = 8'000'000) {
        const double start = seconds_now();
        for (Global g : model_.initial) {
            for (std::size_t p = 0; p < model_.programs.size(); p++) {
                g.process[p] = {0, 0, static_cast<std::uint16_t>(p)};
                begin(g.process[p]);
            }
            add(g, {none, 0, false});
        }
        for (std::size_t i = 0; i < states_.size() && result_.complaint.empty(); i++) {
            if (states_.size() > max_states) break;
            expand(static_cast<std::uint32_t>(i));
            result_.complete = i + 1 == states_.size() && result_.complaint.empty();
        }
        result_.states = states_.size();
        result_.prefixes = tree_.size();
        result_.seconds = seconds_now() - start;
        return result_;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint32_t ended = none;  // as a Position's node

    struct Origin {
        std::uint32_t parent;
        std::uint8_t process;
        bool crash;
    };

    void begin(Position& p) const {
        const std::vector<unsigned>& program = model_.programs[p.program];
        p.node = p.operation < program.size() ? roots_[program[p.operation]] : ended;
    }
    void end(Position& p) const {
        p.operation++;
        begin(p);
    }

    void expand(std::uint32_t index) {
        const Global from = states_[index];
        for (std::uint8_t p = 0; p < model_.programs.size(); p++) {
            const Position& at = from.process[p];
            if (at.node == ended) continue;
            proceed(from, p, {index, p, false});
            if (model_.crashes && tree_[at.node].begun) {
                Global to = from;
                end(to.process[p]);
                if (to.memory[lock_cell] == p + 1u) to.memory[lock_cell] = 0;
                result_.crashes++;
                add(to, {index, p, true});
            }
        }
        std::vector<Global> others;
        model_.events(from, others);
        for (const Global& g : others) {
            Global to = g;
            for (std::uint8_t p = 0; p < model_.programs.size(); p++) {
                Position& at = to.process[p];
                if (at.node != ended && tree_[at.node].begun) end(at);
            }
            to.memory[lock_cell] = 0;
            add(to, {index, model_processes, false});
        }
        others.clear();
        model_.changes(from, others);
        for (const Global& g : others) add(g, {index, model_processes, false});
    }

    void proceed(const Global& from, std::uint8_t p, const Origin& origin) {
        const Request request = tree_[from.process[p].node].request;
        Value scratch = 0;
        const Value& cell = request.cell < model_cells ? from.memory[request.cell] : scratch;
        std::vector<Answer> answers;
        switch (request.kind) {
            case Request::load:
                answers = {{cell}};
                break;
            case Request::swap:
                answers = {cell == request.expected ? Answer{0, true} : Answer{cell, false}};
                break;
            case Request::store:
            case Request::issue:
                answers = {{}};
                break;
            case Request::lock:
                answers = {{0, cell == 0}};
                break;
            case Request::sync: {
                std::vector<std::pair<Answer, Global>> ends;
                model_.sync(from, request.cell, ends);
                for (auto& [answer, to] : ends) {
                    complain(model_.on_access(from, to, request, answer), origin);
                    arrive(to, p, next(from.process[p], request, answer), origin);
                }
                return;
            }
            case Request::tick:
                model_.ticks(from, answers);
                break;
            case Request::monotonic:
                model_.monotonics(from, answers);
                break;
        }
        for (const Answer& answer : answers) {
            Global to = from;
            if (request.kind == Request::store || (request.kind == Request::swap && answer.ok)) {
                to.memory[request.cell] = request.desired;
            }
            if (request.kind == Request::lock && answer.ok) to.memory[lock_cell] = p + 1u;
            if (request.kind == Request::monotonic) to.monotonic = answer.value;
            if (request.kind == Request::issue) complain(model_.on_issue(to, request.issued), origin);
            complain(model_.on_access(from, to, request, answer), origin);
            arrive(to, p, next(from.process[p], request, answer), origin);
        }
    }

    std::uint32_t next(const Position& at, const Request& request, const Answer& answer) {
        const std::uint32_t node = tree_.after(at.node, answer);
        const Continuations::Node& n = tree_[node];
        if (again_.empty() || n.done || n.request.kind != Request::load || request.kind != Request::load) return node;
        const std::uint32_t start = again_[model_.programs[at.program][at.operation]];
        const bool starts_over = request.cell == word_cell && n.request.cell == safe_cell;
        return starts_over && tree_[start].request.cell == request.cell ? tree_.after(start, answer) : node;
    }

    void arrive(Global& to, std::uint8_t p, std::uint32_t node, const Origin& origin) {
        to.process[p].node = node;
        const Continuations::Node& n = tree_[node];
        result_.longest = std::max(result_.longest, n.history.size());
        if (n.done) {
            complain(model_.on_done(to, n.result), origin);
            end(to.process[p]);
        } else if (n.request.kind == Request::issue || (n.request.kind == Request::tick && !model_.clock_has_state()) ||
                   (n.begun && model_.at_once(to, p, n.request))) {
            proceed(Global(to), p, origin);
            return;
        }
        if (n.history.size() > model_.max_history) {
            complain("an operation does not end", origin);
            return;
        }
        add(to, origin);
    }

    void complain(Complaint c, const Origin& origin) {
        if (c == nullptr || !result_.complaint.empty()) return;
        result_.complaint = c;
        result_.trace = story(origin);
    }

    // Processes with the same program are interchangeable, so they are sorted.
    void add(Global g, const Origin& origin) {
        const std::size_t n = model_.programs.size();
        for (std::size_t i = 1; i < n; i++) {
            for (std::size_t j = i;
                 j > 0 && model_.programs[g.process[j].program] == model_.programs[g.process[j - 1].program] &&
                 std::pair(g.process[j].operation, g.process[j].node) <
                     std::pair(g.process[j - 1].operation, g.process[j - 1].node);
                 j--) {
                std::swap(g.process[j].operation, g.process[j - 1].operation);
                std::swap(g.process[j].node, g.process[j - 1].node);
                Value& holder = g.memory[lock_cell];
                if (holder == j + 1) {
                    holder = j;
                } else if (holder == j) {
                    holder = j + 1;
                }
            }
        }
        result_.transitions++;
        std::size_t at = hash(g) & (table_.size() - 1);
        for (; table_[at] != none; at = (at + 1) & (table_.size() - 1)) {
            if (states_[table_[at]] == g) return;
        }
        table_[at] = static_cast<std::uint32_t>(states_.size());
        states_.push_back(g);
        origins_.push_back(origin);
        if (states_.size() * 2 > table_.size()) grow();
        complain(model_.always(g), {static_cast<std::uint32_t>(states_.size() - 1), 0, false});
    }

    static std::size_t hash(const Global& g) {
        return std::hash<std::string_view>()({reinterpret_cast<const char*>(&g), sizeof g});
    }
    void grow() {
        table_.assign(table_.size() * 2, none);
        for (std::uint32_t i = 0; i < states_.size(); i++) {
            std::size_t at = hash(states_[i]) & (table_.size() - 1);
            while (table_[at] != none) at = (at + 1) & (table_.size() - 1);
            table_[at] = i;
        }
    }

    std::string story(const Origin& last) const {
        std::vector<Origin> way{last};
        while (way.back().parent != none) way.push_back(origins_[way.back().parent]);
        std::ostringstream out;
        for (auto step = way.rbegin() + 1; step != way.rend(); ++step) tell(out, *step);
        return out.str();
    }
    void tell(std::ostream& out, const Origin& step) const {
        static constexpr const char* kinds[] = {"load", "swap",  "store",      "lock",
                                                "sync", "issue", "read clock", "read monotonic clock"};
        static constexpr const char* cells[] = {"key", "word", "safe", "ceiling", "begun"};
        const Global& g = states_[step.parent];
        out << "    memory";
        for (const Value v : g.memory) out << ' ' << (v >> ledger::next_bits) << '|' << (v & ledger::next_mask);
        out << "  ghosts " << std::hex << g.ghost[0] << std::dec;
        if (step.process >= model_.programs.size()) {
            out << "  event\n";
            return;
        }
        const Position& p = g.process[step.process];
        if (p.node == ended) {
            out << "  here\n";
            return;
        }
        const Request& r = tree_[p.node].request;
        out << "  process " << int{step.process} << " operation " << p.operation << ": "
            << (step.crash ? "dies before " : "") << kinds[r.kind];
        if (r.kind <= Request::sync) {
            if (r.cell < cell_count) {
                out << ' ' << cells[r.cell];
            } else {
                out << " cell " << r.cell;
            }
        }
        if (r.kind == Request::swap) out << " from " << (r.expected >> 17) << '|' << (r.expected & ledger::next_mask);
        if (r.kind == Request::swap || r.kind == Request::store) {
            out << " to " << (r.desired >> 17) << '|' << (r.desired & ledger::next_mask);
        }
        out << '\n';
    }

    Model& model_;
    Continuations tree_;
    std::vector<std::uint32_t> roots_, again_;
    std::vector<Global> states_;
    std::vector<Origin> origins_;
    std::vector<std::uint32_t> table_;  // open addressing: indexes of states_
    Exploration result_;
};

}  // namespace snowflake_ids::test
