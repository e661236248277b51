// Writes changed boxes to their slots: a list of slot, six bounds and, with filters, four words
// of filter for each.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> list: array<u32>;
@group(0) @binding(3) var<storage, read_write> boxes: array<u32>;
@group(0) @binding(4) var<storage, read_write> filters: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let filtered = work[FILTERED] == 1u;
    let stride = select(7u, 11u, filtered);
    let mine = share(work[CHANGED], group.x, params.groups);
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let start_at = i * stride;
        let slot = list[start_at];
        for (var k = 0u; k < 6u; k += 1u) {
            boxes[slot * 6u + k] = list[start_at + 1u + k];
        }
        if filtered {
            for (var k = 0u; k < 4u; k += 1u) {
                filters[slot * 4u + k] = list[start_at + 7u + k];
            }
        }
    }
}
