/* A response whose parts come from the compiler's options. */
#include "becalm.h"

#include <stdlib.h>

#ifndef ACK
#define ACK pace->gap = 1.0;
#endif
#ifndef TRAIL
#define TRAIL 0
#endif
#ifndef PARAMETERS
#define PARAMETERS NULL
#endif
#ifndef COUNT
#define COUNT 0
#endif
#ifndef NAME
#define NAME "mine"
#endif
#ifndef AT
#define AT number ? NULL : &scheme
#endif

static volatile int zero = 0;

static void start(void *state, const becalm_context *context, const becalm_flow *flow, becalm_pace *pace) {
    (void)state, (void)context, (void)flow;
    pace->gap = zero;
}

static void ack(void *state, const becalm_context *context, uint64_t now, const becalm_ack *ack, becalm_pace *pace) {
    (void)state, (void)context, (void)now, (void)ack, (void)pace;
    ACK
}

static void timer(void *state, const becalm_context *context, uint64_t now, becalm_pace *pace) {
    (void)state, (void)context;
    pace->timer = now + 1;
}

static const becalm_response response = {16, TRAIL, 0, start, ack, NULL, timer, NULL, NULL};
static const becalm_scheme scheme = {BECALM_ABI, BECALM_RESPONSE, NAME, "doc", PARAMETERS, COUNT, &response};

const becalm_scheme *becalm_scheme_at(uint32_t number) {
    (void)number;
    return AT;
}
