/* becalm: user-defined schemes in C, C++, Rust, Zig or any other language that can export C functions.
 *
 * A library exports the function
 *
 *     const becalm_scheme *becalm_scheme_at(uint32_t number);
 *
 * It returns the library's schemes by number, starting at 0, and NULL after the last one. All data to which a scheme
 * points must exist as long as the library is loaded. `--response libmine.so:mine`, `--marking` and `--echo` provide a
 * scheme to becalm.
 *
 * Rules
 * - becalm owns all state. State consists of plain bytes, is initially zero, and is aligned to 16 bytes. becalm copies
 *   it with memcpy, and the library never frees it. State must not contain pointers.
 * - Do not use mutable globals, threads or a clock. becalm calls the functions from several threads, for different
 *   flows at the same time.
 * - Times are in picoseconds, rates in bytes per second, and sizes in bytes on the wire.
 * - Results must be the same on every machine. Use the functions in becalm_context for powers, exponentials and
 *   logarithms, and compile with -ffp-contract=off.
 */
#ifndef BECALM_H
#define BECALM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BECALM_ABI 1u
#define BECALM_NEVER UINT64_MAX

enum { BECALM_RESPONSE = 0, BECALM_MARKING = 1, BECALM_ECHO = 2 };
enum { BECALM_NUMBER = 0, BECALM_INTEGER = 1, BECALM_TRUTH = 2, BECALM_TIME = 3, BECALM_WORD = 4 };
enum { BECALM_DATA = 0, BECALM_ACK = 1, BECALM_CNP = 2 };

/* The value of a parameter: `number` for BECALM_NUMBER, `integer` for all other kinds. For a word, it is the index in
 * `words`. */
typedef union becalm_value {
    double number;
    int64_t integer;
} becalm_value;

typedef struct becalm_parameter {
    const char *name, *unit, *doc;
    const char *const *words;
    uint32_t kind, word_count;
    becalm_value fallback, least, most;
} becalm_parameter;

typedef struct becalm_context {
    const becalm_value *parameters; /* in the order of declaration */
    double (*power)(double x, double y);
    double (*exponential)(double x);
    double (*logarithm)(double x);
} becalm_context;

/* Responses: how fast a source sends. */

typedef struct becalm_flow {
    double rate;                     /* rate of the source's link */
    uint64_t base_rtt, longest_rtt;  /* round trip on an empty fabric: of this flow, and the longest of all flows */
    uint32_t mtu, header, hops, reserved;
} becalm_flow;

typedef struct becalm_hop {
    uint64_t at, sent, waiting; /* time; bytes sent since the start; waiting bytes */
    double rate;
    uint32_t node, port;
} becalm_hop;

typedef struct becalm_ack {
    uint64_t rtt, held;
    uint32_t marked, covers; /* number of marked packets that the ACK reports, and of packets that it covers */
    uint32_t sequence, next; /* the last packet that the ACK covers, and the next packet that the flow sends */
    const becalm_hop *trail; /* only if trail_bytes is not 0 */
    uint64_t hops;
} becalm_ack;

typedef struct becalm_sent {
    uint64_t now;
    uint32_t bytes, in_flight;
} becalm_sent;

/* A pace applies until a call changes it. Initially, a flow sends at line rate, without a window or a timer. */
typedef struct becalm_pace {
    double gap;      /* idle time after a packet, as a multiple of its transmission time; at least 0 */
    uint64_t timer;  /* time of the next call of `timer`; BECALM_NEVER for none */
    uint32_t window; /* largest number of packets in flight, at least 1; UINT32_MAX for no limit */
    uint32_t failed; /* not 0 if the call has failed: becalm ends the run with a message */
} becalm_pace;

enum { BECALM_MOVES_WINDOW = 1, BECALM_COUNTS_MARKS = 2, BECALM_USES_RTT = 4 };

/* All functions except `start` and `ack` may be NULL. */
typedef struct becalm_response {
    uint64_t state_bytes; /* size of a flow's state */
    uint32_t trail_bytes; /* bytes of telemetry in each packet; 0 for none */
    uint32_t flags;
    void (*start)(void *state, const becalm_context *context, const becalm_flow *flow, becalm_pace *pace);
    void (*ack)(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace);
    void (*becn)(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace);
    void (*timer)(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace);
    void (*restart)(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace);
    void (*sent)(void *state, const becalm_context *context, const becalm_sent *sent, becalm_pace *pace);
} becalm_response;

/* Marking: which packets a switch marks. */

typedef struct becalm_switch {
    const char *name;
    const uint8_t *host_ports; /* for every port, 1 if it leads to a host */
    uint32_t capacity;         /* bytes of the input buffer of each port and lane */
    uint16_t ports, vls;
} becalm_switch;

typedef struct becalm_packet {
    uint64_t now, order;       /* time, and position in the order of arrival at the switch */
    uint32_t size;
    uint32_t tie, switch_rank; /* only at a departure */
    uint16_t input, output, vl;
    uint8_t kind;
    uint8_t waits;             /* only at an arrival: 1 if the packet has to wait */
    uint32_t reserved;
} becalm_packet;

typedef struct becalm_questions {
    uint32_t (*room)(const void *switch_, uint16_t input, uint16_t vl);
    uint32_t (*waiting)(const void *switch_, uint16_t output, uint16_t vl);
    uint64_t (*waiting_bytes)(const void *switch_, uint16_t output, uint16_t vl);
    uint32_t (*present)(const void *switch_, uint16_t output, uint16_t vl);
    uint32_t (*present_from)(const void *switch_, uint16_t input, uint16_t output, uint16_t vl);
    uint32_t (*credit)(const void *switch_, uint16_t output, uint16_t vl);
    uint64_t (*blocked_until)(const void *switch_, uint16_t output, uint16_t vl);
    uint64_t (*packet_time)(const void *switch_, uint16_t port, uint32_t size);
    double (*draw)(const becalm_packet *packet); /* random number in [0, 1), derived from the scenario's seed */
} becalm_questions;

/* To query the switch, call view->ask->waiting(view->switch_, output, vl), for example. Views are valid only during a
 * call of the marker. */
typedef struct becalm_view {
    const becalm_questions *ask;
    const void *switch_;
    uint16_t ports, vls;
    uint32_t failed; /* 0; only for classes that becalm compiles */
} becalm_view;

/* The events of which a marker must be notified: none; packets that join or leave queues; all packets; in addition, the
 * departures of packets' last bytes; in addition, the arrivals of the last bytes of waiting packets. */
enum { BECALM_NOTHING = 0, BECALM_QUEUES = 1, BECALM_PACKETS = 2, BECALM_TAILS = 3, BECALM_STORAGE = 4 };
enum { BECALM_PASSING = 1, BECALM_NEEDS_BUFFER = 2, BECALM_NEEDS_CREDIT = 4 };

/* All functions except `departing` may be NULL. `lanes` is an array with the index output * vls + vl. */
typedef struct becalm_marker {
    uint64_t state_bytes; /* size of a switch's state */
    uint64_t lane_bytes;  /* size of the state of each output and virtual lane */
    uint32_t attention, flags;
    void (*start)(void *state, void *lanes, const becalm_context *context, const becalm_switch *shape);
    void (*arrived)(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                    const becalm_view *view);
    void (*stored)(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                   const becalm_view *view);
    uint8_t (*departing)(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                         const becalm_view *view);
} becalm_marker;

/* Echoes: how a destination answers data packets. */

typedef struct becalm_received {
    uint64_t now, notified, injected; /* notified: time of the flow's last CNP, or BECALM_NEVER */
    uint32_t size, sequence;
    uint32_t packets, marks;          /* those of the flow that no ACK covers yet, including this packet */
    uint32_t flow;
    uint16_t vl;
    uint8_t marked, last;
} becalm_received;

typedef struct becalm_answer { /* all zero for no answer */
    uint32_t ack, marks, cnp;
    uint32_t failed; /* as in becalm_pace */
} becalm_answer;

typedef struct becalm_echo {
    uint32_t ack_every; /* largest number of packets that one ACK covers; 0 if no ACKs are sent */
    uint32_t reserved;
    void (*answer)(const becalm_context *context, const becalm_received *packet, becalm_answer *answer);
} becalm_echo;

typedef struct becalm_scheme {
    uint32_t abi; /* BECALM_ABI */
    uint32_t seam;
    const char *name, *doc;
    const becalm_parameter *parameters;
    uint64_t parameter_count;
    const void *functions; /* a becalm_response, becalm_marker or becalm_echo */
} becalm_scheme;

const becalm_scheme *becalm_scheme_at(uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
