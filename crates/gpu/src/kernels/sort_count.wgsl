// Radix sort, first kernel of a pass: how often each of the 16 digits occurs in each workgroup's
// share. Counts are written digit by digit, so that one prefix sum over them (`scan_small`) says
// where each workgroup's keys of each digit go.

struct Params {
    count_at: u32,
    capacity: u32,
    counts: u32, // word of `work` from which the counts are written
    groups: u32,
    word: u32,   // 0: the key's first word, 1: its second
    shift: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;

// Each thread counts for itself, two digits in a word: a share has fewer than 65536 * 256 keys.
var<workgroup> counts: array<u32, 2048>;
var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let count = fitting(work[params.count_at], params.capacity);
    let mine = share(count, group.x, params.groups);
    for (var pair = 0u; pair < 8u; pair += 1u) {
        counts[pair * 256u + thread] = 0u;
    }
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let digit = (keys[i][params.word] >> params.shift) & 15u;
        counts[(digit >> 1u) * 256u + thread] += 1u << ((digit & 1u) * 16u);
    }
    workgroupBarrier();
    // Sixteen threads for each digit, each over sixteen of the counting threads.
    let digit = thread >> 4u;
    let first = (digit >> 1u) * 256u + (thread & 15u) * 16u;
    let half = (digit & 1u) * 16u;
    var sum = 0u;
    for (var k = 0u; k < 16u; k += 1u) {
        sum += (counts[first + k] >> half) & 0xffffu;
    }
    sums[thread] = sum;
    workgroupBarrier();
    if thread < 16u {
        var all = 0u;
        for (var k = 0u; k < 16u; k += 1u) {
            all += sums[thread * 16u + k];
        }
        work[params.counts + thread * params.groups + group.x] = all;
    }
}
