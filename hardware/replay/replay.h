// Shared code of the benches: reading recorded calls, a clock, and counting differences.
#pragma once

#include <verilated.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

// A file with streams of records in this machine's byte order.
class File {
public:
    explicit File(const char* name) : file(std::fopen(name, "rb")) {
        if (!file) fail("cannot be opened");
    }
    ~File() { std::fclose(file); }

    // Reads the next value; returns false at the end of the file.
    template <class T> bool next(T& value) { return std::fread(&value, sizeof value, 1, file) == 1; }

    template <class T> T get() {
        T value;
        if (!next(value)) fail("ends too early");
        return value;
    }

    template <class T> std::vector<T> list(uint64_t count) {
        std::vector<T> values(count);
        if (std::fread(values.data(), sizeof(T), count, file) != count) fail("ends too early");
        return values;
    }

    [[noreturn]] static void fail(const char* why) {
        std::fprintf(stderr, "recorded calls: %s\n", why);
        std::exit(2);
    }

private:
    std::FILE* file;
};

// Counts differences between answers of the core and the module, and prints the first few.
struct Tally {
    uint64_t streams = 0, calls = 0, cycles = 0, answers = 0, marks = 0, differences = 0;

    void compare(const char* what, uint64_t stream, uint64_t call, double core, double module) {
        ++answers;
        if (core == module) return;
        if (++differences <= 5)
            std::fprintf(stderr, "stream %" PRIu64 ", call %" PRIu64 ": %s: core %.17g, module %.17g\n", stream, call,
                         what, core, module);
    }

    // Prints a JSON object; returns the exit code, 1 if there are differences.
    int end() const {
        std::printf("{\"streams\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"cycles\": %" PRIu64 ", \"answers\": %" PRIu64
                    ", \"marks\": %" PRIu64 ", \"differences\": %" PRIu64 "}\n",
                    streams, calls, cycles, answers, marks, differences);
        return differences != 0;
    }
};

// Propagates the inputs to the registers.
template <class Module> void settle(Module& module) {
    module.clk = 0;
    module.eval();
}

// Runs one clock cycle.
template <class Module> void rise(Module& module, Tally& tally) {
    settle(module);
    module.clk = 1;
    module.eval();
    ++tally.cycles;
}

// Sets field `index` of a port that consists of fields of `width` bits.
template <class Word> void put(Word& port, unsigned index, unsigned width, uint64_t value) {
    const Word mask = Word(((uint64_t(1) << width) - 1) << (index * width));
    port = Word((port & ~mask) | (Word(value << (index * width)) & mask));
}
template <std::size_t Words> void put(VlWide<Words>& port, unsigned index, unsigned width, uint64_t value) {
    for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = index * width + bit;
        const uint32_t mask = uint32_t(1) << (at % 32);
        port[at / 32] = (value >> bit) & 1 ? port[at / 32] | mask : port[at / 32] & ~mask;
    }
}
