// Controls the rate of a flow with a table of inter-packet delays. LIPD, FIMD, AIMD and other pairs of increase and
// decrease functions differ only in the table.
//
// Source: J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, end of
// section V-D: "a finite set of discrete rates and using lookup tables". In section VI-B.1, the rates are the link's
// rate divided by 1, 2, 3, ... Therefore a rate's index is the delay after a packet, in units of the packet's
// transmission time.
//
// The order within a cycle is: time passes, an ACK arrives or the flow restarts, a packet is sent.
module responder #(
    parameter RATES = 256,
    // Width of a count of ACKs; AIMD down to 1/256 requires 15.
    parameter ACK_BITS = 15,
    // Width of a packet's size.
    parameter SIZE_BITS = 13,
    // Optional $readmemh file with the table's steps. Steps can also be written.
    parameter STEPS = "",
    parameter INDEX_BITS = $clog2(RATES),
    parameter STEP_BITS = 2 * INDEX_BITS + ACK_BITS
) (
    input logic clk,
    input logic rst,
    // Index of a new flow.
    input logic [INDEX_BITS-1:0] initial_index,
    // Write of a step {index after a mark, index after `acks` unmarked ACKs, acks}.
    input logic write,
    input logic [INDEX_BITS-1:0] write_index,
    input logic [STEP_BITS-1:0] write_step,
    // An ACK arrives, with or without a mark. A BECN counts as a marked ACK.
    input logic ack,
    input logic marked,
    // The flow restarts without a previous packet, at the initial index unless its rate is persistent.
    input logic restart,
    input logic persistent,
    // A packet is sent, and its size in bytes.
    input logic sent,
    input logic [SIZE_BITS-1:0] size,
    // Byte times since the last cycle, at most the size of the last packet.
    input logic [SIZE_BITS-1:0] passed,
    // Delay after a packet, in packet times.
    output logic [INDEX_BITS-1:0] gap,
    // The next packet may be sent.
    output logic ready
);
    logic [STEP_BITS-1:0] steps [0:RATES-1];
    logic [STEP_BITS-1:0] step;
    logic [INDEX_BITS-1:0] slower;
    logic [INDEX_BITS-1:0] faster;
    logic [ACK_BITS-1:0] acks;
    generate
        if (STEPS != "") begin : loaded
            initial $readmemh(STEPS, steps);
        end
    endgenerate
    assign {slower, faster, acks} = step;

    // Current index, and the number of consecutive unmarked ACKs since it was reached.
    logic [INDEX_BITS-1:0] index;
    logic [INDEX_BITS-1:0] index_next;
    logic [ACK_BITS-1:0] unmarked;
    logic gains;
    logic begins;
    assign begins = rst || (restart && !persistent);
    assign gains = unmarked + 1'b1 >= acks;
    assign index_next = begins ? initial_index : !ack ? index : marked ? slower : gains ? faster : index;
    always_ff @(posedge clk) begin
        index <= index_next;
        if (begins || (ack && (marked || gains))) unmarked <= 0;
        else if (ack) unmarked <= unmarked + 1'b1;
        if (write) steps[write_index] <= write_step;
        step <= steps[index_next];
    end
    assign gap = index;

    // Time since the start of the last packet: whole transmission times of this packet, and the rest in byte times.
    logic [INDEX_BITS:0] times;
    logic [SIZE_BITS-1:0] rest;
    logic [SIZE_BITS-1:0] last_size;
    logic waits;
    logic [SIZE_BITS:0] elapsed;
    assign elapsed = rest + passed;
    assign ready = !waits || times > index;
    always_ff @(posedge clk)
        if (rst || restart) waits <= 1'b0;
        else if (sent) begin
            waits <= 1'b1;
            times <= 0;
            rest <= 0;
            last_size <= size;
        end else if (elapsed >= last_size) begin
            rest <= elapsed - last_size;
            // Saturates at its largest value, which allows the next packet at any index.
            if (!times[INDEX_BITS]) times <= times + 1'b1;
        end else rest <= elapsed[SIZE_BITS-1:0];
endmodule
