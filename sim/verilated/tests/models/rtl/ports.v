// One port of every width class each way; outputs are registered inputs. The last ones have awkward names.
module ports (
    input  wire         clk,
    input  wire         i1,   output reg         o1,
    input  wire [4:0]   i5,   output reg [4:0]   o5,
    input  wire [7:0]   i8,   output reg [7:0]   o8,
    input  wire [11:0]  i12,  output reg [11:0]  o12,
    input  wire [15:0]  i16,  output reg [15:0]  o16,
    input  wire [23:0]  i24,  output reg [23:0]  o24,
    input  wire [31:0]  i32,  output reg [31:0]  o32,
    input  wire [47:0]  i48,  output reg [47:0]  o48,
    input  wire [63:0]  i64,  output reg [63:0]  o64,
    input  wire [64:0]  i65,  output reg [64:0]  o65,
    input  wire [127:0] i128, output reg [127:0] o128,
    input  wire [511:0] i512, output reg [511:0] o512,
    input  wire [7:0]   match,
    output wire [7:0]   self,
    output wire [7:0]   dump,
    output wire [7:0]   set_i5
);
    always @(posedge clk) begin
        o1 <= i1; o5 <= i5; o8 <= i8; o12 <= i12; o16 <= i16; o24 <= i24; o32 <= i32;
        o48 <= i48; o64 <= i64; o65 <= i65; o128 <= i128; o512 <= i512;
    end
    assign self = match + 8'd1;
    assign dump = match + 8'd2;
    assign set_i5 = match + 8'd3;
endmodule
