// Marks packets that leave an input-buffered switch, for one virtual lane.
//
// Source: J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection Mechanisms for InfiniBand
// Switches", GLOBECOM 2002, section IV; "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section IV-A.
//
// Each port has at most one event of each kind per cycle. The order within a cycle is: departing tails, departing
// headers, arriving packets, buffers that become full. Therefore a mark depends only on registers.
module marker #(
    parameter PORTS = 8,
    // Capacity of an input buffer in packets.
    parameter SLOTS = 4,
    // 0: naive, 1: input-triggered, 2: input-output-triggered.
    parameter POLICY = 1,
    // Packets for an output, including the packet in transmission, above which policy 2 marks.
    parameter THRESHOLD = 8,
    // 1: the switch signals the outputs of each buffer's packets in `holds`; 0: the module counts these packets.
    parameter SHOWN = 0,
    // 1: at most one packet for an output arrives per cycle; 0: at most one from each input.
    parameter SERIAL = 0,
    parameter PORT_BITS = $clog2(PORTS),
    parameter SLOT_BITS = SLOTS > 1 ? $clog2(SLOTS) : 1
) (
    input logic clk,
    input logic rst,
    // By input: a packet arrives, its output and slot, and whether it must wait.
    input logic [PORTS-1:0] come,
    input logic [PORTS*PORT_BITS-1:0] come_output,
    input logic [PORTS*SLOT_BITS-1:0] come_slot,
    input logic [PORTS-1:0] come_waits,
    // By input: a waiting packet has filled the buffer.
    input logic [PORTS-1:0] full,
    // By input and output: the buffer holds a packet for the output, including an arriving packet.
    input logic [PORTS*PORTS-1:0] holds,
    // By output (by input for policy 0): a header departs, its slot for policy 0, and whether its packet is marked.
    input logic [PORTS-1:0] leave,
    input logic [PORTS*SLOT_BITS-1:0] leave_slot,
    output logic [PORTS-1:0] mark,
    // By output: a packet's last byte has departed, and the packet's input.
    input logic [PORTS-1:0] tail,
    input logic [PORTS*PORT_BITS-1:0] tail_input
);
    // `comes`, by input and output: a packet arrives. `gone`, by output and input: a packet has departed.
    logic [PORTS*PORTS-1:0] comes;
    logic [PORTS*PORTS-1:0] gone;
    genvar i, o;
    generate
        for (i = 0; i < PORTS; i = i + 1) begin : port
            if (POLICY == 0) begin : naive
                buffer_flags #(.SLOTS(SLOTS), .SLOT_BITS(SLOT_BITS)) packets (
                    .clk(clk),
                    .rst(rst),
                    .come(come[i]),
                    .come_slot(come_slot[i*SLOT_BITS +: SLOT_BITS]),
                    .full(full[i]),
                    .leave(leave[i]),
                    .leave_slot(leave_slot[i*SLOT_BITS +: SLOT_BITS]),
                    .mark(mark[i])
                );
            end else begin : triggered
                decoder #(.PORTS(PORTS), .PORT_BITS(PORT_BITS)) arrival (
                    .valid(come[i]),
                    .port(come_output[i*PORT_BITS +: PORT_BITS]),
                    .ones(comes[i*PORTS +: PORTS])
                );
                decoder #(.PORTS(PORTS), .PORT_BITS(PORT_BITS)) departure (
                    .valid(tail[i]),
                    .port(tail_input[i*PORT_BITS +: PORT_BITS]),
                    .ones(gone[i*PORTS +: PORTS])
                );
                // For this output, by input: a packet arrives, and the buffer holds a packet.
                logic [PORTS-1:0] coming;
                logic [PORTS-1:0] held;
                for (o = 0; o < PORTS; o = o + 1) begin : from
                    assign coming[o] = comes[o*PORTS+i];
                    if (SHOWN) begin : shown
                        assign held[o] = holds[o*PORTS+i];
                    end else begin : counted
                        present #(.SLOTS(SLOTS)) packets (
                            .clk(clk),
                            .rst(rst),
                            .come(coming[o]),
                            .tail(gone[i*PORTS+o]),
                            .some(held[o])
                        );
                    end
                end
                output_counters #(
                    .PORTS(PORTS),
                    .BITS($clog2(PORTS * SLOTS + 1)),
                    .BY_OUTPUT(POLICY == 2),
                    .THRESHOLD(THRESHOLD),
                    .SERIAL(SERIAL)
                ) counters (
                    .clk(clk),
                    .rst(rst),
                    .come(coming),
                    .come_waits(come_waits),
                    .full(full),
                    .held(held),
                    .leave(leave[i]),
                    .mark(mark[i]),
                    .tail(tail[i])
                );
            end
        end
    endgenerate
endmodule

// Converts a port number to one-hot form.
module decoder #(
    parameter PORTS = 8,
    parameter PORT_BITS = 3
) (
    input logic valid,
    input logic [PORT_BITS-1:0] port,
    output logic [PORTS-1:0] ones
);
    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : bits
            assign ones[p] = valid && port == p;
        end
    endgenerate
endmodule

// Naive marking of one input buffer, with a flag per packet. All flags are set when the buffer becomes full.
module buffer_flags #(
    parameter SLOTS = 4,
    parameter SLOT_BITS = 2
) (
    input logic clk,
    input logic rst,
    input logic come,
    input logic [SLOT_BITS-1:0] come_slot,
    input logic full,
    input logic leave,
    input logic [SLOT_BITS-1:0] leave_slot,
    output logic mark
);
    logic [SLOTS-1:0] flags;
    assign mark = leave && flags[leave_slot];
    genvar s;
    generate
        for (s = 0; s < SLOTS; s = s + 1) begin : slot
            always_ff @(posedge clk)
                if (rst) flags[s] <= 1'b0;
                else if (full) flags[s] <= 1'b1;
                else if (come && come_slot == s) flags[s] <= 1'b0;
        end
    endgenerate
endmodule

// Triggered marking of one output, with the two counters of the papers.
module output_counters #(
    parameter PORTS = 8,
    parameter BITS = 6,
    // 1: a queue longer than the threshold also triggers.
    parameter BY_OUTPUT = 0,
    parameter THRESHOLD = 8,
    parameter SERIAL = 0
) (
    input logic clk,
    input logic rst,
    // By input: a packet for this output arrives; it must wait; the buffer is full; it holds a packet for this output.
    input logic [PORTS-1:0] come,
    input logic [PORTS-1:0] come_waits,
    input logic [PORTS-1:0] full,
    input logic [PORTS-1:0] held,
    input logic leave,
    output logic mark,
    input logic tail
);
    // Waiting packets, and packets still to be marked.
    logic [BITS-1:0] cnt1;
    logic [BITS-1:0] cnt2;
    logic [BITS-1:0] coming;
    logic [BITS-1:0] waiting;
    logic trigger;
    assign mark = leave && cnt2 != 0;
    assign waiting = cnt1 + coming - leave;
    generate
        if (SERIAL) begin : one
            assign coming = |come;
        end else begin : many
            count_ones #(.BITS(BITS), .INPUTS(PORTS)) arrivals (.of(come), .count(coming));
        end
        if (BY_OUTPUT) begin : by_either
            // Whether a packet is in transmission.
            logic sends;
            logic sends_next;
            assign sends_next = leave || (sends && !tail);
            assign trigger = |(full & held) || (|(come & come_waits) && waiting + sends_next > THRESHOLD);
            always_ff @(posedge clk) sends <= !rst && sends_next;
        end else begin : by_input
            assign trigger = |(full & held);
        end
    endgenerate
    always_ff @(posedge clk)
        if (rst) begin
            cnt1 <= 0;
            cnt2 <= 0;
        end else begin
            cnt1 <= waiting;
            if (trigger) cnt2 <= waiting;
            else if (mark) cnt2 <= cnt2 - 1'b1;
        end
endmodule

// Counts the packets of one input that are present for one output, including the packet in transmission.
module present #(
    parameter SLOTS = 4,
    parameter BITS = $clog2(SLOTS + 1)
) (
    input logic clk,
    input logic rst,
    input logic come,
    input logic tail,
    // Whether any are present at the end of the cycle.
    output logic some
);
    logic [BITS-1:0] count;
    assign some = come || count > tail;
    always_ff @(posedge clk)
        if (rst) count <= 0;
        else if (come != tail) count <= come ? count + 1'b1 : count - 1'b1;
endmodule

// Counts the ones in a word with an adder tree.
module count_ones #(
    parameter INPUTS = 8,
    parameter BITS = 6,
    parameter LOW = INPUTS / 2
) (
    input logic [INPUTS-1:0] of,
    output logic [BITS-1:0] count
);
    generate
        if (INPUTS == 1) begin : one
            assign count = of;
        end else begin : tree
            logic [BITS-1:0] low;
            logic [BITS-1:0] high;
            count_ones #(.INPUTS(LOW), .BITS(BITS)) lower (.of(of[LOW-1:0]), .count(low));
            count_ones #(.INPUTS(INPUTS - LOW), .BITS(BITS)) upper (.of(of[INPUTS-1:LOW]), .count(high));
            assign count = low + high;
        end
    endgenerate
endmodule
