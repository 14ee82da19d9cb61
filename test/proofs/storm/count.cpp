// count: judges what the clients have written down.
//
// usage: count DIR [LOSSY...]     LOSSY: numbers of the nodes that were lost without a clean shutdown
//        count --self-test        logs with a planted fault each: TAP
//
// Repeated: the same id drawn twice, by anyone.
//
// The limit of failover: the standby may lack WAL that was flushed before an id went out. An id is covered if its row
// is still there, or if the node acknowledged a later commit on the same or a later connection. What a client received
// from a lost node after its last acknowledged commit is exposed: only the next node may repeat it, and such repeats
// are counted apart.
//
// Bounds: what the storm sets (record.hpp), and what the client asked for.
//
// Order: a client's next id is larger than those received, in the same partition and tick-tock.
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
    std::printf(
        "RESULT received=%lu repeated=%lu exposed=%lu limit=%lu disorders=%lu outside=%lu unexpected=%lu toggled=%lu "
        "least=%lu\n",
        sum(judge.received), sum(judge.repeated), judge.exposed, sum(judge.limit), judge.disorders, judge.outside,
        judge.unexpected, judge.toggled, *std::min_element(std::begin(judge.received), std::end(judge.received)));
    return 0;
}
