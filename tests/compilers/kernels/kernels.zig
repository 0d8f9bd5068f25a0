//! Compiled by Zig for nvptx64-cuda, to an assembler file.

const Floats = [*]addrspace(.global) const f32;
const Results = [*]addrspace(.global) f32;
const Words = [*]addrspace(.global) const u32;
const Bins = [*]addrspace(.global) u32;

fn globalIndex() u32 {
    return @workGroupId(0) * @workGroupSize(0) + @workItemId(0);
}

fn barrier() void {
    asm volatile ("bar.sync 0;" ::: .{ .memory = true });
}

export fn saxpy(n: u32, a: f32, x: Floats, y: Results) callconv(.nvptx_kernel) void {
    const i = globalIndex();
    if (i < n) y[i] = a * x[i] + y[i];
}

var part: [128]f32 addrspace(.shared) = undefined;

/// The sum of each block's 128 elements.
export fn reduce(n: u32, x: Floats, sums: Results) callconv(.nvptx_kernel) void {
    const thread = @workItemId(0);
    const i = globalIndex();
    part[thread] = if (i < n) x[i] else 0;
    barrier();
    var half: u32 = 64;
    while (half > 0) : (half /= 2) {
        if (thread < half) part[thread] += part[thread + half];
        barrier();
    }
    if (thread == 0) sums[@workGroupId(0)] = part[0];
}

/// How many values there are of each remainder by 16.
export fn histogram(n: u32, values: Words, bins: Bins) callconv(.nvptx_kernel) void {
    const i = globalIndex();
    if (i < n) _ = @atomicRmw(u32, &bins[values[i] % 16], .Add, 1, .monotonic);
}

/// c = a * b, square, a thread an element.
export fn matmul(side: u32, a: Floats, b: Floats, c: Results) callconv(.nvptx_kernel) void {
    const i = globalIndex();
    if (i >= side * side) return;
    const row = i / side;
    const column = i % side;
    var sum: f32 = 0;
    for (0..side) |k| sum += a[row * side + k] * b[k * side + column];
    c[i] = sum;
}
