// Replays recorded calls of InfiniBand congestion control responses, and compares every gap, delay and deadline. Here
// the module counts time in ps.
#include "Vibta_responder.h"
#include "replay.h"
#include "responses.h"

#include <algorithm>

struct Settings {
    uint64_t entries, min, limit, increase, decrease;
};

class Bench {
public:
    Bench(Tally& tally, const Settings& settings) : tally(tally), min(settings.min) {
        module.ccti_min = settings.min;
        module.ccti_limit = settings.limit;
        module.ccti_increase = settings.increase;
        module.ccti_decrease = settings.decrease;
        module.rst = 1;
        module.becn = module.ticks = 0;
    }

    void load(const std::vector<uint16_t>& entries) {
        if (entries.size() > ENTRIES) File::fail("more entries than the module has");
        module.write = 1;
        for (unsigned index = 0; index < entries.size(); ++index) {
            module.write_index = index;
            module.write_entry = entries[index];
            rise(module, tally);
        }
        module.write = 0;
    }

    void run(uint64_t number, const Flow& flow, const std::vector<Call>& calls) {
        stream = number;
        period = flow.period;
        module.rst = 1;
        module.ccti_timer = flow.period;
        module.phase = flow.phase;
        rise(module, tally);
        module.rst = 0;
        now = 0;
        for (uint64_t at = 0; at < calls.size(); ++at) show(calls[at], at);
        ++tally.streams;
        tally.calls += calls.size();
    }

private:
    static constexpr uint64_t NEVER = ~uint64_t(0);
    Vibta_responder module;
    Tally& tally;
    uint64_t stream = 0, now = 0, period = 0, min;

    void show(const Call& call, uint64_t at) {
        // A timer expiry at the time of a packet follows the packet, unless an earlier call has already reached it.
        const uint64_t time = call.function == SENT ? std::max(now, call.time - (call.time > 0)) : call.time;
        while (time - now > period && period > 0) pass(period, false);
        const bool becn = call.function == BECN || (call.function == ACK && call.marked);
        module.size = call.size;
        pass(time - now, becn);
        tally.marks += becn;
        const double entry = double(module.entry & 0x3fff) / (1 << (module.entry >> 14));
        tally.compare("gap", stream, at, call.gap, entry);
        if (call.function == SENT)
            tally.compare("delay", stream, at, 8.0 * call.size * call.gap, double(module.delay));
        else if (call.deadline == NEVER)
            tally.compare("index without deadline", stream, at, period > 0 ? double(min) : module.ccti, module.ccti);
        else
            tally.compare("deadline", stream, at, double(call.deadline), double(now + module.left));
    }

    void pass(uint64_t ps, bool becn) {
        module.ticks = ps;
        module.becn = becn;
        rise(module, tally);
        now += ps;
        module.becn = module.ticks = 0;
    }
};

int main(int, char** arguments) {
    File file(arguments[1]);
    Tally tally;
    const Settings settings = file.get<Settings>();
    Bench bench(tally, settings);
    bench.load(file.list<uint16_t>(settings.entries));
    Flow flow;
    for (uint64_t stream = 0; file.next(flow); ++stream) bench.run(stream, flow, file.list<Call>(flow.calls));
    return tally.end();
}
