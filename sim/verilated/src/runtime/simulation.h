// What every model has in common: context, trace, coverage, and how it ended.
#pragma once

#include "verilated.h"

#include <cstdint>
#include <memory>
#include <string>

class VerilatedFstC;

namespace ferronic_verilated {

// Read from Rust: `Status` of src/simulation.rs has the same layout.
struct Status {
    uint8_t finished = 0;
    uint8_t failed = 0;
    uint8_t traced = 0;   // Built with tracing.
    uint8_t covered = 0;  // Built with coverage.
};

class Simulation {
public:
    VerilatedContext context;
    Status status;
    std::string failure_file;
    uint32_t failure_line = 0;
    std::string failure_message;
    std::unique_ptr<VerilatedFstC> trace;

    // `power_up` is 0 for zeros, 1 for ones, 2 for random values drawn from `seed`, which must not be 0.
    Simulation(int power_up, int seed);
    virtual ~Simulation();

    // Attaches the model to a trace file about to be opened.
    virtual void attach(VerilatedFstC*) {}

    // Makes this the simulation that the thread's $finish, $error, $time and $random belong to. Verilated code does
    // not do so itself, and a thread may hold several models, a model may move between threads.
    void enter() {
        if (current != this) enter_slow();
    }

    void fail(const char* file, int line, std::string message);

    // Of this thread. A plain pointer, so that reading it needs no call.
    static __thread Simulation* current;

private:
    void enter_slow();
};

// Thrown by vl_fatal, after which Verilated code must not go on: it would loop, or follow a null pointer.
struct Fatal {};

}  // namespace ferronic_verilated
