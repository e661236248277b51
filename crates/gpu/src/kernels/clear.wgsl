// Sets a table to zero before something is counted in it.

struct Params { groups: u32, length: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let mine = share(params.length, group.x, params.groups);
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        counts[i] = 0u;
    }
}
