// What both scatter kernels of the sort share: counts of sixteen digits for each thread of a tile,
// and their sums over the threads before.

// Two digits in a word; a tile has 1024 keys, so neither half overflows.
var<workgroup> counts: array<u32, 2048>;
var<workgroup> rakes: array<u32, 128>;
var<workgroup> in_tile: array<u32, 8>;

// Turns counts into sums: over the threads before within sixteen of them (`counts`), over the
// sixteens before (`rakes`), and over the tile (`in_tile`). Every thread calls it, after a barrier.
fn sum_counts(thread: u32) {
    if thread < 128u {
        let start_at = (thread >> 4u) * 256u + (thread & 15u) * 16u;
        var sum = 0u;
        for (var k = 0u; k < 16u; k += 1u) {
            let value = counts[start_at + k];
            counts[start_at + k] = sum;
            sum += value;
        }
        rakes[thread] = sum;
    }
    workgroupBarrier();
    if thread < 8u {
        var sum = 0u;
        for (var k = 0u; k < 16u; k += 1u) {
            let value = rakes[thread * 16u + k];
            rakes[thread * 16u + k] = sum;
            sum += value;
        }
        in_tile[thread] = sum;
    }
    workgroupBarrier();
}

// Keys of a digit that the threads before this one hold.
fn before(thread: u32, digit: u32) -> u32 {
    let pair = digit >> 1u;
    let both = counts[pair * 256u + thread] + rakes[pair * 16u + (thread >> 4u)];
    return (both >> ((digit & 1u) * 16u)) & 0xffffu;
}

// Keys of a digit in the tile.
fn whole(digit: u32) -> u32 {
    return (in_tile[digit >> 1u] >> ((digit & 1u) * 16u)) & 0xffffu;
}
