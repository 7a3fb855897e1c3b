// Recorded calls of responses.
#pragma once

#include <cmath>
#include <cstdint>

enum Function : uint32_t { START, ACK, BECN, TIMER, RESTART, SENT };

struct Call {
    uint64_t time;
    double gap;
    // When it wants to be called by its timer; all bits set for never.
    uint64_t deadline;
    uint32_t function, marked, size, unused;
};

struct Flow {
    uint64_t calls, ps_per_byte;
    // Of its timer, in ps: the time between two expiries, and that since the last one when the run begins.
    uint64_t period, phase;
};
