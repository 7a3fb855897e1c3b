// The response of InfiniBand congestion control: an index into a table of delays, which a BECN moves up and a timer
// down.
//
// Source: InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10. An entry of the table has a shift of
// 2 bits and a multiplier of 14: the delay after a packet is (Tp >> shift) x multiplier, with the packet's transmission
// time Tp. Tp is counted in eighths of a byte time here, so that no bit of it is lost.
//
// Events of one cycle come in the order: the timer ticks, a BECN arrives.
module ibta_responder #(
    parameter ENTRIES = 128,
    // Bits of a packet's size.
    parameter SIZE_BITS = 13,
    // Bits of CCTI_Timer, and of the ticks that pass in a cycle: of 1.024 us in an adapter, at most one.
    parameter TIMER_BITS = 16,
    parameter TICK_BITS = 1,
    // A file for $readmemh with the entries of the table; the table can be written, too.
    parameter CCT = "",
    parameter INDEX_BITS = $clog2(ENTRIES)
) (
    input logic clk,
    input logic rst,
    input logic [INDEX_BITS-1:0] ccti_min,
    input logic [INDEX_BITS-1:0] ccti_limit,
    input logic [7:0] ccti_increase,
    input logic [7:0] ccti_decrease,
    // Ticks between two expiries; 0 for never. `phase`: those since the last one at reset.
    input logic [TIMER_BITS-1:0] ccti_timer,
    input logic [TIMER_BITS-1:0] phase,
    // An entry {shift, multiplier} is written.
    input logic write,
    input logic [INDEX_BITS-1:0] write_index,
    input logic [15:0] write_entry,
    // Ticks since the last cycle: at most CCTI_Timer.
    input logic [TICK_BITS-1:0] ticks,
    input logic becn,
    // Size in bytes of the packet that goes out.
    input logic [SIZE_BITS-1:0] size,
    // The index, and ticks to the next expiry.
    output logic [INDEX_BITS-1:0] ccti,
    output logic [TIMER_BITS-1:0] left,
    // The entry of the index, and the delay after the packet in eighths of byte times.
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
