// Radix sort by eight bits, last kernel of a pass. A tile of 1024 keys is first sorted in workgroup
// memory, by two stable splits of four bits; then each key's place is where its digit begins for
// this workgroup plus its distance from the first such key of the tile. Keys of a digit lie side by
// side when they are written.

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

var<workgroup> bases: array<u32, 16>;
// Digit and place in the tile of each key, in order.
var<workgroup> order: array<u32, 1024>;
var<workgroup> starts: array<u32, 256>;
var<workgroup> next: array<u32, 256>;
var<workgroup> count: u32;

var<private> own: array<u32, 4>;

// Puts every thread's own keys in order by four bits of their digits.
fn split(thread: u32, present: u32, shift: u32) {
    for (var pair = 0u; pair < 8u; pair += 1u) {
        counts[pair * 256u + thread] = 0u;
    }
    var ranks: array<u32, 4>;
    for (var k = 0u; k < present; k += 1u) {
        let digit = (own[k] >> shift) & 15u;
        let at = (digit >> 1u) * 256u + thread;
        let half = (digit & 1u) * 16u;
        ranks[k] = (counts[at] >> half) & 0xffffu;
        counts[at] += 1u << half;
    }
    workgroupBarrier();
    sum_counts(thread);
    if thread < 16u {
        var sum = 0u;
        for (var digit = 0u; digit < thread; digit += 1u) {
            sum += whole(digit);
        }
        bases[thread] = sum;
    }
    workgroupBarrier();
    for (var k = 0u; k < present; k += 1u) {
        let digit = (own[k] >> shift) & 15u;
        order[bases[digit] + before(thread, digit) + ranks[k]] = own[k];
    }
    workgroupBarrier();
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if thread == 0u {
        count = fitting(work[params.count_at], params.capacity);
    }
    next[thread] = work[params.counts + thread * params.groups + group.x];
    let mine = share(workgroupUniformLoad(&count), group.x, params.groups);
    for (var tile = mine.x; tile < mine.y; tile += 1024u) {
        let length = min(mine.y - tile, 1024u);
        let first = thread * 4u;
        let present = min(max(length, first) - first, 4u);
        for (var k = 0u; k < present; k += 1u) {
            let digit = (keys[tile + first + k][params.word] >> params.shift) & 255u;
            own[k] = (digit << 16u) | (first + k);
        }
        split(thread, present, 16u);
        for (var k = 0u; k < present; k += 1u) {
            own[k] = order[first + k];
        }
        workgroupBarrier();
        split(thread, present, 20u);
        for (var k = 0u; k < present; k += 1u) {
            let place = first + k;
            let digit = order[place] >> 16u;
            if place == 0u || (order[max(place, 1u) - 1u] >> 16u) != digit {
                starts[digit] = place;
            }
        }
        workgroupBarrier();
        for (var k = 0u; k < present; k += 1u) {
            let digit = order[first + k] >> 16u;
            let source = tile + (order[first + k] & 0xffffu);
            let place = next[digit] + first + k - starts[digit];
            sorted_keys[place] = keys[source];
            if params.values == 1u {
                sorted_values[place] = values[source];
            }
        }
        workgroupBarrier();
        for (var k = 0u; k < present; k += 1u) {
            let place = first + k;
            let digit = order[place] >> 16u;
            if place + 1u == length || (order[min(place + 1u, 1023u)] >> 16u) != digit {
                next[digit] += place + 1u - starts[digit];
            }
        }
        workgroupBarrier();
    }
}
