// Finds the cells and the slice of each box, and for every level how many entries and giants there
// would be.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;
@group(0) @binding(3) var<storage, read_write> spans: array<vec2<u32>>;

var<workgroup> found: array<atomic<u32>, 22>;

fn word(at: u32) -> u32 {
    return atomicLoad(&work[at]);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if thread < 22u {
        atomicStore(&found[thread], 0u);
    }
    workgroupBarrier();
    let mine = share(atomicLoad(&work[SLOTS]), group.x, params.groups);
    let axis = atomicLoad(&work[AXIS]);
    let fine = atomicLoad(&work[FINE]);
    let cells = vec2<u32>(atomicLoad(&work[CELLS]), atomicLoad(&work[CELLS + 1u])) << vec2(fine);
    var entries: array<u32, 11>;
    var giants: array<u32, 11>;
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        if is_nan(boxes[i * 6u]) {
            spans[i] = vec2<u32>(DEAD);
            continue;
        }
        var span: vec2<u32>;
        for (var side = 0u; side < 2u; side += 1u) {
            let at = i * 6u + (axis + 1u + side) % 3u;
            let first = cell_of(side, cells[side], boxes[at]);
            let last = cell_of(side, cells[side], boxes[at + 3u]);
            span[side] = first | (last << 10u);
        }
        span.x |= cell_of(2u, 1024u, boxes[i * 6u + axis]) << 20u;
        spans[i] = span;
        for (var level = 0u; level < 11u; level += 1u) {
            let size = size_of(columns_of(span, level + fine));
            let giant = size > GIANT;
            entries[level] += select(size, 1u, giant);
            giants[level] += select(0u, 1u, giant);
        }
    }
    for (var level = 0u; level < 11u; level += 1u) {
        let both = vec2<u32>(lanes_sum(entries[level]), lanes_sum(giants[level]));
        if lanes_speaker(thread) {
            atomicAdd(&found[level], both.x);
            atomicAdd(&found[11u + level], both.y);
        }
    }
    workgroupBarrier();
    if thread < 22u {
        atomicAdd(&work[LEVEL_ENTRIES + thread], atomicLoad(&found[thread]));
    }
}
