/* Copies of built-in schemes in C, with the same operations in the same order, so that results are bit-identical. */
#include <stddef.h>

#include "becalm.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static const becalm_parameter RATES[] = {
    {"rmin", "of the link rate", "least rate", NULL, BECALM_NUMBER, 0, {1.0 / 256}, {1e-6}, {1.0}},
    {"rmax", "of the link rate", "largest rate", NULL, BECALM_NUMBER, 0, {1.0}, {1e-6}, {1.0}},
    {"m", "", "factor of a decrease", NULL, BECALM_NUMBER, 0, {2.0}, {1.0}, {100.0}},
};
enum { RMIN, RMAX, M };

struct rate {
    double rate;
};

static double value(const becalm_context *context, int place) { return context->parameters[place].number; }

static void rate_start(void *state, const becalm_context *context, const becalm_flow *flow, becalm_pace *pace) {
    (void)flow;
    struct rate *own = state;
    own->rate = value(context, RMAX);
    pace->window = 1;
    pace->gap = most(1.0 / own->rate - 1.0, 0.0);
}

static void lipd(struct rate *own, const becalm_context *context, int marked, becalm_pace *pace) {
    double rmin = value(context, RMIN), rmax = value(context, RMAX);
    own->rate = marked ? most(rmax / (rmax / own->rate + 1.0), rmin) : least(own->rate / (1.0 - rmin / rmax), rmax);
    pace->gap = most(1.0 / own->rate - 1.0, 0.0);
}

static void lipd_ack(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace) {
    (void)now;
    lipd(state, context, ack->marked > 0, pace);
}

static void lipd_becn(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)now;
    lipd(state, context, 1, pace);
}

static void aimd(struct rate *own, const becalm_context *context, int marked, becalm_pace *pace) {
    double rmin = value(context, RMIN), rmax = value(context, RMAX), m = value(context, M);
    own->rate = marked ? most(own->rate / m, rmin) : least(own->rate + (m - 1.0) * rmin * rmin / own->rate, rmax);
    pace->gap = most(1.0 / own->rate - 1.0, 0.0);
}

static void aimd_ack(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace) {
    (void)now;
    aimd(state, context, ack->marked > 0, pace);
}

static void aimd_becn(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)now;
    aimd(state, context, 1, pace);
}

static const becalm_response LIPD = {sizeof(struct rate), 0, 0, rate_start, lipd_ack, lipd_becn, NULL, NULL, NULL};
static const becalm_response AIMD = {sizeof(struct rate), 0, 0, rate_start, aimd_ack, aimd_becn, NULL, NULL, NULL};

struct dctcp {
    double window, first, alpha;
    uint32_t acked, marked, count_at, cut_from, latest, next;
};

static void dctcp_begin(struct dctcp *own, becalm_pace *pace) {
    double first = own->first;
    *own = (struct dctcp){0};
    own->first = first;
    own->alpha = 1.0;
    own->window = least(most(first, 1.0), 4294967295.0);
    pace->window = (uint32_t)own->window;
}

static void dctcp_start(void *state, const becalm_context *context, const becalm_flow *flow, becalm_pace *pace) {
    (void)context;
    struct dctcp *own = state;
    own->first = flow->rate * ((double)flow->base_rtt / 1e12) / (double)(flow->mtu + flow->header);
    dctcp_begin(own, pace);
}

static void dctcp_cut(struct dctcp *own) {
    if (own->latest < own->cut_from) return;
    own->window = most(own->window * (1.0 - own->alpha / 2.0), 1.0);
    own->cut_from = own->next;
}

static void dctcp_ack(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace) {
    (void)now;
    struct dctcp *own = state;
    own->acked += ack->covers;
    own->marked += ack->marked;
    own->latest = ack->sequence;
    own->next = ack->next;
    if (ack->sequence >= own->count_at) {
        double share = (double)own->marked / (double)(own->acked > 1 ? own->acked : 1);
        own->alpha += value(context, 0) * (least(share, 1.0) - own->alpha);
        own->acked = own->marked = 0;
        own->count_at = ack->next;
    }
    if (ack->marked > 0)
        dctcp_cut(own);
    else if (ack->sequence >= own->cut_from)
        own->window = least(own->window + (double)ack->covers / own->window, 4294967295.0);
    pace->window = (uint32_t)own->window;
}

static void dctcp_becn(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)context, (void)now;
    struct dctcp *own = state;
    own->marked += 1;
    dctcp_cut(own);
    pace->window = (uint32_t)own->window;
}

static void dctcp_restart(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)context, (void)now;
    dctcp_begin(state, pace);
}

static const becalm_parameter G[] = {
    {"g", "", "weight of a window in alpha", NULL, BECALM_NUMBER, 0, {0.0625}, {1e-6}, {1.0}},
};
static const becalm_response DCTCP = {
    sizeof(struct dctcp), 0, BECALM_MOVES_WINDOW | BECALM_COUNTS_MARKS, dctcp_start, dctcp_ack, dctcp_becn, NULL,
    dctcp_restart, NULL,
};

static const becalm_parameter TIMES[] = {
    {"g", "", "weight of a CNP in alpha", NULL, BECALM_NUMBER, 0, {1.0 / 256}, {1e-6}, {1.0}},
    {"alpha_timer", "", "time without a CNP after which alpha falls", NULL, BECALM_TIME, 0,
     {.integer = 55000000}, {.integer = 100000}, {.integer = INT64_MAX}},
    {"increase_timer", "", "time of a stage of the timer", NULL, BECALM_TIME, 0,
     {.integer = 55000000}, {.integer = 100000}, {.integer = INT64_MAX}},
    {"byte_counter", "B", "bytes of a stage of the byte counter", NULL, BECALM_INTEGER, 0,
     {.integer = 10000000}, {.integer = 1000}, {.integer = INT64_MAX}},
};
enum { CNP_WEIGHT, ALPHA_TIMER, INCREASE_TIMER, BYTE_COUNTER };

struct dcqcn {
    double rate, target, alpha, least;
    uint64_t alpha_since, bytes;
    uint32_t timer_stage, byte_stage;
};

static uint64_t whole(const becalm_context *context, int place) { return (uint64_t)context->parameters[place].integer; }

static void dcqcn_begin(struct dcqcn *own, becalm_pace *pace) {
    double floor = own->least;
    *own = (struct dcqcn){.rate = 1.0, .target = 1.0, .alpha = 1.0, .least = floor, .alpha_since = UINT64_MAX};
    pace->timer = BECALM_NEVER;
    pace->gap = 0.0;
}

static void dcqcn_start(void *state, const becalm_context *context, const becalm_flow *flow, becalm_pace *pace) {
    (void)context;
    struct dcqcn *own = state;
    own->least = least(100.0 * 1e6 / (flow->rate * 8.0), 1.0);
    dcqcn_begin(own, pace);
}

static void dcqcn_rise(struct dcqcn *own, becalm_pace *pace) {
    uint32_t low = own->timer_stage < own->byte_stage ? own->timer_stage : own->byte_stage;
    uint32_t high = own->timer_stage < own->byte_stage ? own->byte_stage : own->timer_stage;
    if (high >= 5) own->target = least(own->target + (low > 5 ? 0.01 : 0.001), 1.0);
    own->rate = (own->rate + own->target) / 2.0;
    if (1.0 - own->rate < 1e-6) {
        own->rate = own->target = 1.0;
        pace->timer = BECALM_NEVER;
    }
}

static void dcqcn_expire(struct dcqcn *own, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    while (pace->timer <= now) {
        pace->timer += whole(context, INCREASE_TIMER);
        own->timer_stage += 1;
        dcqcn_rise(own, pace);
    }
}

static void dcqcn_cut(struct dcqcn *own, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    double g = value(context, CNP_WEIGHT);
    if (own->alpha_since < now) {
        uint64_t periods = (now - own->alpha_since) / whole(context, ALPHA_TIMER);
        if (periods > 0) own->alpha *= context->power(1.0 - g, (double)periods);
    }
    own->target = own->rate;
    own->rate = most(own->rate * most(1.0 - own->alpha / 2.0, 0.5), own->least);
    own->alpha = (1.0 - g) * own->alpha + g;
    own->timer_stage = own->byte_stage = 0;
    own->bytes = 0;
    own->alpha_since = now;
    pace->timer = now + whole(context, INCREASE_TIMER);
}

static void dcqcn_ack(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace) {
    struct dcqcn *own = state;
    dcqcn_expire(own, context, now, pace);
    if (ack->marked > 0) dcqcn_cut(own, context, now, pace);
    pace->gap = 1.0 / own->rate - 1.0;
}

static void dcqcn_becn(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    struct dcqcn *own = state;
    dcqcn_expire(own, context, now, pace);
    dcqcn_cut(own, context, now, pace);
    pace->gap = 1.0 / own->rate - 1.0;
}

static void dcqcn_timer(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    struct dcqcn *own = state;
    pace->timer = now;
    dcqcn_expire(own, context, now, pace);
    pace->gap = 1.0 / own->rate - 1.0;
}

static void dcqcn_restart(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)context, (void)now;
    dcqcn_begin(state, pace);
}

static void dcqcn_sent(void *state, const becalm_context *context, const becalm_sent *sent, becalm_pace *pace) {
    struct dcqcn *own = state;
    if (own->rate >= 1.0) return;
    own->bytes += sent->bytes;
    while (own->bytes >= whole(context, BYTE_COUNTER) && own->rate < 1.0) {
        own->bytes -= whole(context, BYTE_COUNTER);
        own->byte_stage += 1;
        dcqcn_rise(own, pace);
    }
    pace->gap = 1.0 / own->rate - 1.0;
}

static const becalm_response DCQCN = {
    sizeof(struct dcqcn), 0, 0, dcqcn_start, dcqcn_ack, dcqcn_becn, dcqcn_timer, dcqcn_restart, dcqcn_sent,
};

/* Lanes are arrays indexed by output * vls + vl. */
static void triggered_arrived(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                              const becalm_view *view) {
    (void)state, (void)context;
    uint32_t *left = lanes;
    if (!packet->waits || view->ask->room(view->switch_, packet->input, packet->vl) > 0) return;
    for (uint16_t output = 0; output < view->ports; output++)
        if (view->ask->present_from(view->switch_, packet->input, output, packet->vl) > 0)
            left[output * view->vls + packet->vl] = view->ask->waiting(view->switch_, output, packet->vl);
}

static uint8_t triggered_departing(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                                   const becalm_view *view) {
    (void)state, (void)context;
    uint32_t *left = (uint32_t *)lanes + packet->output * view->vls + packet->vl;
    if (*left == 0) return 0;
    *left -= 1;
    return 1;
}

static const becalm_marker TRIGGERED = {
    0, sizeof(uint32_t), BECALM_TAILS, BECALM_NEEDS_BUFFER, NULL, triggered_arrived, NULL, triggered_departing,
};

static const becalm_parameter QUEUES[] = {
    {"kmin", "kB", "queue up to which no packet is marked", NULL, BECALM_NUMBER, 0, {5.0}, {0.0}, {1e6}},
    {"kmax", "kB", "queue above which every packet is marked", NULL, BECALM_NUMBER, 0, {200.0}, {0.0}, {1e6}},
    {"pmax", "", "probability of a mark at kmax", NULL, BECALM_NUMBER, 0, {0.01}, {0.0}, {1.0}},
};

static uint8_t ramp_departing(void *state, void *lanes, const becalm_context *context, const becalm_packet *packet,
                              const becalm_view *view) {
    (void)state, (void)lanes;
    if (packet->kind != BECALM_DATA) return 0;
    double queue = (double)(view->ask->waiting_bytes(view->switch_, packet->output, packet->vl) - packet->size);
    double low = value(context, 0) * 1000.0, high = value(context, 1) * 1000.0;
    if (queue <= low) return 0;
    if (queue > high) return 1;
    double probability = value(context, 2) * (queue - low) / (high - low);
    return probability > 0.0 && (probability >= 1.0 || view->ask->draw(packet) < probability);
}

static const becalm_marker RAMP = {0, 0, BECALM_PACKETS, BECALM_PASSING, NULL, NULL, NULL, ramp_departing};

static void roce_answer(const becalm_context *context, const becalm_received *packet, becalm_answer *answer) {
    int due = packet->notified == BECALM_NEVER || packet->now >= packet->notified + whole(context, 0);
    answer->ack = packet->last || packet->packets >= 1;
    answer->cnp = packet->marked && due;
}

static const becalm_parameter INTERVAL[] = {
    {"cnp_interval", "", "least time between two CNPs of a flow", NULL, BECALM_TIME, 0,
     {.integer = 50000000}, {.integer = 0}, {.integer = INT64_MAX}},
};
static const becalm_echo ROCE = {1, 0, roce_answer};

static const becalm_scheme SCHEMES[] = {
    {BECALM_ABI, BECALM_RESPONSE, "lipd", "A mark lengthens the delay by one packet time.", RATES, 2, &LIPD},
    {BECALM_ABI, BECALM_RESPONSE, "aimd", "A mark divides the rate.", RATES, 3, &AIMD},
    {BECALM_ABI, BECALM_RESPONSE, "dctcp", "The window shrinks by the share of marks.", G, 1, &DCTCP},
    {BECALM_ABI, BECALM_RESPONSE, "dcqcn", "CNPs cut the rate.", TIMES, COUNT(TIMES), &DCQCN},
    {BECALM_ABI, BECALM_MARKING, "input_triggered", "A full buffer marks what waits.", NULL, 0, &TRIGGERED},
    {BECALM_ABI, BECALM_MARKING, "ramp", "The probability of a mark rises with the queue.", QUEUES, 3, &RAMP},
    {BECALM_ABI, BECALM_ECHO, "roce_v2", "CNPs, at most one per interval.", INTERVAL, 1, &ROCE},
};

const becalm_scheme *becalm_scheme_at(uint32_t number) { return number < COUNT(SCHEMES) ? &SCHEMES[number] : NULL; }
