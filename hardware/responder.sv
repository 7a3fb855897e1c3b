// The rate of a flow by a table of inter-packet delays: LIPD, FIMD, AIMD and any other pair of functions of the rate
// differ only in the table.
//
// Source: J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, end of
// section V-D: "a finite set of discrete rates and using lookup tables"; section VI-B.1 for the set of rates: the
// link's over 1, 2, 3, ... So the index of a rate is the delay after a packet, in transmission times of this packet.
//
// Events of one cycle come in the order: time passes, an ACK arrives or the flow begins again, a packet goes out.
module responder #(
    parameter RATES = 256,
    // Bits of a count of ACKs: 15 for AIMD down to 1/256.
    parameter ACK_BITS = 15,
    // Bits of a packet's size.
    parameter SIZE_BITS = 13,
    // A file for $readmemh with the steps of the table; the table can be written, too.
    parameter STEPS = "",
    parameter INDEX_BITS = $clog2(RATES),
    parameter STEP_BITS = 2 * INDEX_BITS + ACK_BITS
) (
    input logic clk,
    input logic rst,
    // Index of a new flow.
    input logic [INDEX_BITS-1:0] initial_index,
    // A step {index after a mark, index after `acks` unmarked ACKs, acks} is written.
    input logic write,
    input logic [INDEX_BITS-1:0] write_index,
    input logic [STEP_BITS-1:0] write_step,
    // An ACK arrives, with or without a mark; a notification is a marked ACK.
    input logic ack,
    input logic marked,
    // The flow begins again at the initial index, if its rate does not persist; it has sent nothing then.
    input logic restart,
    input logic persistent,
    // A packet of this many bytes goes out.
    input logic sent,
    input logic [SIZE_BITS-1:0] size,
    // Byte times since the last cycle: at most the size of the last packet.
    input logic [SIZE_BITS-1:0] passed,
    // The delay after a packet, in packet times.
    output logic [INDEX_BITS-1:0] gap,
    // The next packet may go out.
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

    // The index, and the unmarked ACKs in a row since it was reached.
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

    // Time since the last packet began, in times of this packet and a rest in byte times.
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
            // It stops at its largest value: the next packet may go out at any index.
            if (!times[INDEX_BITS]) times <= times + 1'b1;
        end else rest <= elapsed[SIZE_BITS-1:0];
endmodule
