// Radix sort, last kernel of a pass: moves keys and values to their places by one digit, keeping
// the order of equal digits. Tiles of 1024 keys, four to a thread; the place of a key is where its
// digit begins for this workgroup, plus equal digits in earlier threads of the tile, plus those in
// its own thread.

struct Params {
    count_at: u32,
    capacity: u32,
    counts: u32,
    groups: u32,
    word: u32,
    shift: u32,
    values: u32, // 1 if values move with the keys
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> values: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_keys: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> sorted_values: array<u32>;

var<workgroup> next: array<u32, 16>;
var<workgroup> count: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if thread == 0u {
        count = fitting(work[params.count_at], params.capacity);
    }
    if thread < 16u {
        next[thread] = work[params.counts + thread * params.groups + group.x];
    }
    let mine = share(workgroupUniformLoad(&count), group.x, params.groups);
    for (var tile = mine.x; tile < mine.y; tile += 1024u) {
        let first = tile + thread * 4u;
        let present = min(max(mine.y, first) - first, 4u);
        var mine_keys: array<vec2<u32>, 4>;
        var digits: array<u32, 4>;
        for (var pair = 0u; pair < 8u; pair += 1u) {
            counts[pair * 256u + thread] = 0u;
        }
        for (var k = 0u; k < present; k += 1u) {
            let key = keys[first + k];
            let digit = (key[params.word] >> params.shift) & 15u;
            mine_keys[k] = key;
            // Below the digit: how many of this thread's earlier keys have the same one.
            let at = (digit >> 1u) * 256u + thread;
            let half = (digit & 1u) * 16u;
            digits[k] = (digit << 16u) | ((counts[at] >> half) & 0xffffu);
            counts[at] += 1u << half;
        }
        workgroupBarrier();
        sum_counts(thread);
        for (var k = 0u; k < present; k += 1u) {
            let digit = digits[k] >> 16u;
            let place = next[digit] + before(thread, digit) + (digits[k] & 0xffffu);
            sorted_keys[place] = mine_keys[k];
            if params.values == 1u {
                sorted_values[place] = values[first + k];
            }
        }
        workgroupBarrier();
        if thread < 16u {
            next[thread] += whole(thread);
        }
        workgroupBarrier();
    }
}
