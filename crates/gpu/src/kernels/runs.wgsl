// Where each run begins among the sorted entries: where the bucket before its first one ends. Empty
// runs begin where the next one does.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> ends: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let runs = select(work[RUNS] + 1u, 0u, work[ENTRIES] > params.capacity);
    let at = work[RUNS_AT];
    let slices = 10u - work[SLICE_SHIFT];
    let mine = share(runs, group.x, params.groups);
    for (var run = mine.x + thread; run < mine.y; run += 256u) {
        work[at + run] = select(0u, ends[max(run << slices, 1u) - 1u], run > 0u);
    }
}
