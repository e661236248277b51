// Radix sort by eight bits, first kernel of a pass: how often each of the 256 digits occurs in each
// workgroup's share, written as `sort_count.wgsl` does. The order of counting does not matter, so
// the threads share one table.

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

var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    atomicStore(&counts[thread], 0u);
    workgroupBarrier();
    let count = fitting(work[params.count_at], params.capacity);
    let mine = share(count, group.x, params.groups);
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        atomicAdd(&counts[(keys[i][params.word] >> params.shift) & 255u], 1u);
    }
    workgroupBarrier();
    work[params.counts + thread * params.groups + group.x] = atomicLoad(&counts[thread]);
}
