// A synchronous FIFO. Overflow and underflow are errors of its user, which it reports.
module fifo #(
    parameter WIDTH = 8,
    parameter LOG2_DEPTH = 4
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire                  push,
    input  wire [WIDTH-1:0]      push_data,
    input  wire                  pop,
    output wire [WIDTH-1:0]      pop_data,
    output wire                  empty,
    output wire                  full,
    output wire [LOG2_DEPTH:0]   level
);
    reg [WIDTH-1:0]    memory [0:(1 << LOG2_DEPTH)-1];
    reg [LOG2_DEPTH:0] head;
    reg [LOG2_DEPTH:0] tail;

    assign level    = tail - head;
    assign empty    = head == tail;
    assign full     = level[LOG2_DEPTH];
    assign pop_data = memory[head[LOG2_DEPTH-1:0]];

    always @(posedge clk) begin
        if (rst) begin
            head <= 0;
            tail <= 0;
        end else begin
            if (push) begin
                if (full) $error("push into a full FIFO");
                memory[tail[LOG2_DEPTH-1:0]] <= push_data;
                tail <= tail + 1'b1;
            end
            if (pop) begin
                if (empty) $error("pop from an empty FIFO");
                head <= head + 1'b1;
            end
        end
    end

    cover property (@(posedge clk) full && push && pop);
endmodule
