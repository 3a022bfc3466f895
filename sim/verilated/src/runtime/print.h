// Included by verilated.h when the runtime is compiled: sends what Verilog prints through the function below.
#pragma once

extern "C" int ferronic_verilated_print(const char* format, ...);

#define VL_PRINTF ferronic_verilated_print
