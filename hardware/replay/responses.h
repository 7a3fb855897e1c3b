// Recorded calls of responses.
#pragma once

#include <cmath>
#include <cstdint>

enum Function : uint32_t { START, ACK, BECN, TIMER, RESTART, SENT };

struct Call {
    uint64_t time;
    double gap;
    // Deadline of the response's timer; all bits set if there is none.
    uint64_t deadline;
    uint32_t function, marked, size, unused;
};

struct Flow {
    uint64_t calls, ps_per_byte;
    // Period of the timer, and time since its last expiry at the start of the run, in ps.
    uint64_t period, phase;
};
