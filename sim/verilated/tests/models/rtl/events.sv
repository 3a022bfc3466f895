// Everything that ends a simulation, each at its own input.
module events (
    input  logic        clk,
    input  logic        error,
    input  logic        fatal,
    input  logic        stop,
    input  logic        finish,
    input  logic        must_be_low,
    input  logic        oscillate,
    output logic [63:0] now,
    output logic        loop
);
    always_ff @(posedge clk) begin
        now <= $time;
        if (error) $error("value %0d is wrong", 42);
        if (fatal) $fatal(1, "cannot go on");
        if (stop) $stop;
        if (finish) $finish;
    end
    assert property (@(posedge clk) !must_be_low);
    assign loop = oscillate & ~loop;
endmodule
