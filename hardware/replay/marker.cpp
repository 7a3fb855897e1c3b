// Replays recorded calls of markers, and compares every mark.
//
// The recording contains the calls in order. Each cycle includes as many calls as the module's order within a cycle
// allows: departing tails, departing headers, arriving packets, a buffer that becomes full.
#include "Vmarker.h"
#include "replay.h"

#include <unordered_map>

enum Function : uint8_t { ARRIVED, STORED, DEPARTING, LEFT };

struct Call {
    uint64_t order;
    uint16_t input, output;
    uint8_t function, waits, fills, marked;
};

class Bench {
public:
    explicit Bench(Tally& tally) : tally(tally) {}

    void run(uint64_t number, const std::vector<Call>& calls) {
        stream = number;
        reset();
        for (uint64_t at = 0; at < calls.size(); ++at) {
            if (!fits(calls[at])) cycle();
            show(calls[at], at);
        }
        cycle();
        ++tally.streams;
        tally.calls += calls.size();
    }

private:
    struct Asked {
        unsigned port;
        uint64_t call;
        bool marked;
    };
    struct Place {
        unsigned input, slot;
    };

    Vmarker module;
    Tally& tally;
    uint64_t stream = 0;
    // Kind of the last call in this cycle, and ports that already have a call of this kind.
    int phase = 0;
    uint64_t inputs = 0, outputs = 0;
    bool closed = false;
    std::vector<Asked> asked;
    std::unordered_map<uint64_t, unsigned> slots;
    std::vector<std::vector<unsigned>> free;
    std::vector<Place> sending;
    std::vector<unsigned> held;

    void reset() {
        module.rst = 1;
        module.come = module.come_waits = module.full = module.leave = module.tail = 0;
        if (SHOWN)
            for (unsigned pair = 0; pair < PORTS * PORTS; ++pair) put(module.holds, pair, 1, 0);
        rise(module, tally);
        module.rst = 0;
        slots.clear();
        sending.assign(PORTS, {0, 0});
        held.assign(PORTS * PORTS, 0);
        free.assign(PORTS, {});
        for (auto& list : free)
            for (unsigned slot = SLOTS; slot > 0; --slot) list.push_back(slot - 1);
    }

    static int phase_of(const Call& call) {
        switch (call.function) {
        case LEFT: return 0;
        case DEPARTING: return 1;
        case ARRIVED: return 2;
        default: return 3;
        }
    }

    // Returns whether the module can process this call in the current cycle without changing the order of calls.
    bool fits(const Call& call) const {
        const int next = phase_of(call);
        if (closed || next < phase) return false;
        if (next > phase) return true;
        if (inputs >> call.input & 1) return false;
        // Packets that arrive for one output are counted together, and compared with the threshold after the last one.
        const bool together = call.function == ARRIVED && !SERIAL && (POLICY != 2 || call.waits);
        return together || !(outputs >> call.output & 1);
    }

    void show(const Call& call, uint64_t at) {
        if (call.input >= PORTS || call.output >= PORTS) File::fail("a port number exceeds the module's ports");
        if (phase_of(call) != phase) inputs = outputs = 0;
        phase = phase_of(call);
        inputs |= uint64_t(1) << call.input;
        outputs |= uint64_t(1) << call.output;
        switch (call.function) {
        case ARRIVED: come(call); break;
        case DEPARTING: leave(call, at); break;
        case LEFT: left(call); break;
        default: break;
        }
        if (call.fills) {
            put(module.full, call.input, 1, 1);
            closed = true;
        }
    }

    void come(const Call& call) {
        auto& list = free[call.input];
        if (list.empty()) File::fail("more packets in a buffer than the module has slots");
        const unsigned slot = list.back();
        list.pop_back();
        slots[call.order] = slot;
        put(module.come, call.input, 1, 1);
        put(module.come_waits, call.input, 1, call.waits);
        put(module.come_output, call.input, PORT_BITS, call.output);
        put(module.come_slot, call.input, SLOT_BITS, slot);
        hold(call, 1);
    }

    void leave(const Call& call, uint64_t at) {
        const auto found = slots.find(call.order);
        if (found == slots.end()) File::fail("a packet departs that never arrived");
        const unsigned port = POLICY == 0 ? call.input : call.output;
        put(module.leave, port, 1, 1);
        put(module.leave_slot, port, SLOT_BITS, found->second);
        asked.push_back({port, at, call.marked != 0});
        sending[call.output] = {call.input, found->second};
        slots.erase(found);
    }

    void left(const Call& call) {
        put(module.tail, call.output, 1, 1);
        put(module.tail_input, call.output, PORT_BITS, call.input);
        const Place place = sending[call.output];
        if (place.input != call.input) File::fail("the tail of a packet whose header has not departed");
        free[place.input].push_back(place.slot);
        hold(call, -1);
    }

    void hold(const Call& call, int more) {
        const unsigned pair = call.input * PORTS + call.output;
        held[pair] += more;
        if (SHOWN) put(module.holds, pair, 1, held[pair] > 0);
    }

    void cycle() {
        settle(module);
        for (const Asked& each : asked) {
            const bool mark = uint64_t(module.mark) >> each.port & 1;
            tally.compare("mark", stream, each.call, each.marked, mark);
            tally.marks += each.marked;
        }
        rise(module, tally);
        module.come = module.come_waits = module.full = module.leave = module.tail = 0;
        asked.clear();
        phase = 0;
        inputs = outputs = 0;
        closed = false;
    }
};

int main(int, char** arguments) {
    File file(arguments[1]);
    Tally tally;
    Bench bench(tally);
    uint64_t count;
    for (uint64_t stream = 0; file.next(count); ++stream) bench.run(stream, file.list<Call>(count));
    return tally.end();
}
