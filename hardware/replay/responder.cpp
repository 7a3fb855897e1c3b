// Replays recorded calls of table responses, and compares every gap. Checks that the module becomes ready after exactly
// the gap, and that no recorded packet leaves before the module is ready.
#include "Vresponder.h"
#include "replay.h"
#include "responses.h"

#include <algorithm>

struct Step {
    uint32_t slower, acks, faster;
};

class Bench {
public:
    explicit Bench(Tally& tally) : tally(tally) {}

    void load(const std::vector<Step>& steps, bool persistent) {
        if (steps.size() > RATES) File::fail("more steps than the module has");
        module.rst = 1;
        module.persistent = persistent;
        module.ack = module.restart = module.sent = module.passed = 0;
        module.write = 1;
        for (unsigned index = 0; index < steps.size(); ++index) {
            const Step& step = steps[index];
            if (step.acks >> ACK_BITS) File::fail("more ACKs than the module counts");
            module.write_index = index;
            module.write_step =
                (uint64_t(step.slower) << INDEX_BITS | step.faster) << ACK_BITS | step.acks;
            rise(module, tally);
        }
        module.write = 0;
    }

    void run(uint64_t number, const Flow& flow, const std::vector<Call>& calls) {
        stream = number;
        ps_per_byte = flow.ps_per_byte;
        module.rst = 1;
        module.initial_index = index_of(calls[0].gap);
        rise(module, tally);
        module.rst = 0;
        size = 0;
        gap = calls[0].gap;
        for (uint64_t at = 0; at < calls.size(); ++at) show(calls[at], at);
        ++tally.streams;
        tally.calls += calls.size();
    }

private:
    Vresponder module;
    Tally& tally;
    uint64_t stream = 0, ps_per_byte = 1;
    // Start and size of the last packet; the size is 0 if there is none.
    uint64_t began = 0, size = 0;
    double gap = 0;

    // Returns the index of a gap, an integer except for the core's rounding of 1 / rate.
    static unsigned index_of(double gap) { return unsigned(gap + 0.5); }

    void show(const Call& call, uint64_t at) {
        if (call.function == SENT) wait(call, at);
        module.ack = call.function == ACK || call.function == BECN;
        module.marked = call.function == BECN || call.marked;
        module.restart = call.function == RESTART;
        module.sent = call.function == SENT;
        module.size = call.size;
        rise(module, tally);
        module.ack = module.restart = module.sent = 0;
        tally.marks += call.function == BECN || call.marked;
        if (call.function == SENT) {
            began = call.time;
            size = call.size;
        } else if (call.function == RESTART) {
            size = 0;
        }
        gap = call.gap;
        const bool whole = std::abs(gap - index_of(gap)) < 1e-9;
        tally.compare("gap", stream, at, whole ? index_of(gap) : gap, module.gap);
    }

    // Advances the time since the last packet, by one packet time per cycle.
    void wait(const Call& call, uint64_t at) {
        if (size > 0) {
            const uint64_t due = size * (1 + index_of(gap));
            const uint64_t passed = std::min((call.time - began) / ps_per_byte, due + size);
            for (uint64_t gone = 0; gone < passed;) {
                module.passed = std::min(size, passed - gone);
                gone += module.passed;
                rise(module, tally);
                tally.compare("ready", stream, at, gone >= due, module.ready);
            }
            module.passed = 0;
        }
        tally.compare("ready to send", stream, at, 1, module.ready);
    }
};

int main(int, char** arguments) {
    File file(arguments[1]);
    Tally tally;
    Bench bench(tally);
    const uint64_t rates = file.get<uint64_t>(), persistent = file.get<uint64_t>();
    bench.load(file.list<Step>(rates), persistent);
    Flow flow;
    for (uint64_t stream = 0; file.next(flow); ++stream) bench.run(stream, flow, file.list<Call>(flow.calls));
    return tally.end();
}
