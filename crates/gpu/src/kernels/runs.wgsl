// Where each run begins among the sorted entries; empty runs begin where the next one does.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let entries = work[ENTRIES];
    let runs = select(work[RUNS] + 1u, 0u, entries > params.capacity);
    let at = work[RUNS_AT];
    let mine = share(runs, group.x, params.groups);
    for (var run = mine.x + thread; run < mine.y; run += 256u) {
        var low = 0u;
        var high = entries;
        while low < high {
            let middle = (low + high) >> 1u;
            if keys[middle].x < run {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        work[at + run] = low;
    }
}
