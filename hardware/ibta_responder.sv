// The response of InfiniBand congestion control: an index into a table of delays. A BECN increases the index, and a
// timer decreases it.
//
// Source: InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10. A table entry consists of a shift
// (2 bits) and a multiplier (14 bits). The delay after a packet is (Tp >> shift) x multiplier, where Tp is the packet's
// transmission time. This module counts Tp in eighths of a byte time to preserve all bits.
//
// Within a cycle, timer ticks come before a BECN.
module ibta_responder #(
    parameter ENTRIES = 128,
    // Width of a packet's size.
    parameter SIZE_BITS = 13,
    // Widths of CCTI_Timer and of the ticks in a cycle. In an adapter, a tick is 1.024 us, with at most one per cycle.
    parameter TIMER_BITS = 16,
    parameter TICK_BITS = 1,
    // Optional $readmemh file with the table's entries. Entries can also be written.
    parameter CCT = "",
    parameter INDEX_BITS = $clog2(ENTRIES)
) (
    input logic clk,
    input logic rst,
    input logic [INDEX_BITS-1:0] ccti_min,
    input logic [INDEX_BITS-1:0] ccti_limit,
    input logic [7:0] ccti_increase,
    input logic [7:0] ccti_decrease,
    // Ticks between two expiries; 0 disables the timer. `phase` is the number of ticks since the last expiry at reset.
    input logic [TIMER_BITS-1:0] ccti_timer,
    input logic [TIMER_BITS-1:0] phase,
    // Write of an entry {shift, multiplier}.
    input logic write,
    input logic [INDEX_BITS-1:0] write_index,
    input logic [15:0] write_entry,
    // Ticks since the last cycle, at most CCTI_Timer.
    input logic [TICK_BITS-1:0] ticks,
    input logic becn,
    // Size of the outgoing packet in bytes.
    input logic [SIZE_BITS-1:0] size,
    // Current index, and ticks until the next expiry.
    output logic [INDEX_BITS-1:0] ccti,
    output logic [TIMER_BITS-1:0] left,
    // Entry at the index, and delay after the packet in eighths of a byte time.
    output logic [15:0] entry,
    output logic [SIZE_BITS+16:0] delay
);
    logic [15:0] cct [0:ENTRIES-1];
    generate
        if (CCT != "") begin : loaded
            initial $readmemh(CCT, cct);
        end
    endgenerate

    logic [TIMER_BITS-1:0] time_now;
    logic [TIMER_BITS:0] time_next;
    logic expires;
    assign time_next = time_now + ticks;
    assign expires = ccti_timer != 0 && time_next >= ccti_timer;
    assign left = ccti_timer - time_now;
    always_ff @(posedge clk)
        if (rst) time_now <= phase;
        else time_now <= expires ? time_next - ccti_timer : time_next[TIMER_BITS-1:0];

    logic [INDEX_BITS-1:0] lower;
    logic [INDEX_BITS+8:0] higher;
    logic [INDEX_BITS-1:0] ccti_next;
    assign lower = !expires ? ccti : ccti - ccti_min > ccti_decrease ? ccti - ccti_decrease : ccti_min;
    assign higher = lower + ccti_increase;
    assign ccti_next = rst ? ccti_min : !becn ? lower : higher > ccti_limit ? ccti_limit : higher[INDEX_BITS-1:0];
    always_ff @(posedge clk) begin
        ccti <= ccti_next;
        if (write) cct[write_index] <= write_entry;
        entry <= cct[ccti_next];
    end

    logic [SIZE_BITS+2:0] shifted;
    assign shifted = {size, 3'b000} >> entry[15:14];
    assign delay = shifted * entry[13:0];
endmodule
