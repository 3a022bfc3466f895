#include "simulation.h"

#include "verilated_cov.h"
#include "verilated_fst_c.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ferronic_verilated {

__thread Simulation* Simulation::current = nullptr;

Simulation::Simulation(int power_up, int seed) {
    context.threads(1);  // Else every context starts a pool of threads that has nothing to do.
    context.randReset(power_up);
    context.randSeed(seed);
    context.traceEverOn(true);
    enter_slow();
}

Simulation::~Simulation() {
    if (current == this) current = nullptr;
}

void Simulation::enter_slow() {
    current = this;
    Verilated::threadContextp(&context);
}

void Simulation::fail(const char* file, int line, std::string message) {
    if (status.failed) return;  // The first failure is the cause of the others.
    status.failed = 1;
    failure_file = file ? file : "";
    failure_line = line > 0 ? line : 0;
    failure_message = std::move(message);
    if (trace) trace->flush();
}

}  // namespace ferronic_verilated

using ferronic_verilated::Fatal;
using ferronic_verilated::Simulation;
using ferronic_verilated::Status;

// The text of the $error or $fatal about to be reported: Verilated code prints it, then calls vl_stop.
static thread_local std::string last_error;

extern "C" int ferronic_verilated_print(const char* format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    std::string text(length > 0 ? length : 0, '\0');
    std::vsnprintf(&text[0], text.size() + 1, format, again);
    va_end(again);
    if (text.find("%Error: ") != std::string::npos) last_error = text;
    std::fwrite(text.data(), 1, text.size(), stdout);
    return length;
}

void vl_finish(const char*, int, const char*) {
    if (Simulation* const s = Simulation::current) s->status.finished = 1;
}

void vl_stop(const char* file, int line, const char*) {
    std::string text;
    text.swap(last_error);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (Simulation* const s = Simulation::current) s->fail(file, line, text.empty() ? "$stop" : text);
}

void vl_fatal(const char* file, int line, const char*, const char* message) {
    if (Simulation* const s = Simulation::current) s->fail(file, line, message);
    throw Fatal{};
}

void vl_warn(const char* file, int line, const char*, const char* message) {
    ferronic_verilated_print("%%Warning: %s:%d: %s\n", file ? file : "", line, message);
}

// What src/simulation.rs calls. No exception may leave these functions.
extern "C" {

const Status* ferronic_verilated_status(const Simulation* s) { return &s->status; }

void ferronic_verilated_delete(Simulation* s) {
    s->enter();
    s->trace.reset();
    delete s;
}

void ferronic_verilated_set_time(Simulation* s, uint64_t time) { s->context.time(time); }

bool ferronic_verilated_open_trace(Simulation* s, const char* path) {
    s->enter();
    s->trace.reset();
    auto trace = std::make_unique<VerilatedFstC>();
    try {
        s->attach(trace.get());
        trace->open(path);
    } catch (const Fatal&) { return false; }
    s->trace = std::move(trace);
    return s->trace->isOpen();
}

void ferronic_verilated_close_trace(Simulation* s) { s->trace.reset(); }

void ferronic_verilated_dump(Simulation* s, uint64_t time) {
    s->enter();
    s->context.time(time);
    try {
        s->trace->dump(time);
    } catch (const Fatal&) {}
}

bool ferronic_verilated_write_coverage(Simulation* s, const char* path) {
    s->enter();
    try {
        s->context.coveragep()->write(path);
    } catch (const Fatal&) { return false; }
    return true;
}

const char* ferronic_verilated_failure(const Simulation* s, const char** file, uint32_t* line) {
    *file = s->failure_file.c_str();
    *line = s->failure_line;
    return s->failure_message.c_str();
}
}
