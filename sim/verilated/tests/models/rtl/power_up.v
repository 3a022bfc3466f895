// State that nothing initialises, of every kind: registers narrow and wide, and a memory.
module power_up (
    input  wire         clk,
    input  wire         write,
    input  wire [3:0]   address,
    input  wire [127:0] data,
    output reg  [7:0]   narrow,
    output reg  [127:0] wide,
    output wire [31:0]  word
);
    reg [31:0] memory [0:15];
    assign word = memory[address];
    always @(posedge clk)
        if (write) begin
            narrow <= data[7:0];
            wide <= data;
            memory[address] <= data[31:0];
        end
endmodule
