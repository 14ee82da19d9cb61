// count: judges what the clients have written down.
//
// usage: count DIR [LOSSY...]     LOSSY: numbers of the nodes that were lost without a clean shutdown
//        count --self-test        logs with a planted fault each: TAP
//
// Repeated: the same id drawn twice, anywhere, by anyone. A row found in the end and an id received belong to the
// same draw when client and statement agree.
//
// The limit of failover. A node's WAL is flushed before an id goes out, but the standby may not have it yet. An id
// is covered when its row is still there, or when, on the same connection or a later one to that node, a commit was
// acknowledged after it was received: commits wait for the standby, and WAL goes there in order. What a client received
// from a lost node after its last acknowledged commit is exposed: it may be drawn again by the next node, and only by
// that. Such repeats are counted apart.
//
// Bounds: what the storm sets (record.hpp), and what the client asked for: sequence, metabyte, partition, machine id.
//
// Order: a client that draws after it has received an id draws a larger one, in the same partition and under the
// same tick-tock.
#include "judge.hpp"
#include "self_test.hpp"

using namespace storm;

int main(int argc, char** argv) {
    if (argc < 2) die("usage: count DIR [LOSSY...] | count --self-test");
    if (std::strcmp(argv[1], "--self-test") == 0) return self_test();
    Judge judge;
    for (int i = 2; i < argc; i++) judge.lossy.insert(static_cast<std::uint32_t>(std::atoi(argv[i])));
    judge.run(argv[1]);
    judge.print();
    // For the script.
    std::printf(
        "RESULT received=%lu repeated=%lu exposed=%lu limit=%lu disorders=%lu outside=%lu unexpected=%lu toggled=%lu "
        "least=%lu\n",
        sum(judge.received), sum(judge.repeated), judge.exposed, sum(judge.limit), judge.disorders, judge.outside,
        judge.unexpected, judge.toggled, *std::min_element(std::begin(judge.received), std::end(judge.received)));
    return 0;
}
