// The range of the lower corners on each axis, as ordered numbers, over boxes whose bounds are
// all finite and not so large that their difference overflows. Lower ends are stored inverted,
// so that zero is the neutral start of both.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;

var<workgroup> found: array<atomic<u32>, 7>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if thread < 7u {
        atomicStore(&found[thread], 0u);
    }
    workgroupBarrier();
    let mine = share(atomicLoad(&work[SLOTS]), group.x, params.groups);
    var low = vec3<u32>();
    var high = vec3<u32>();
    var live = 0u;
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let at = i * 6u;
        let lower = vec3<u32>(boxes[at], boxes[at + 1u], boxes[at + 2u]);
        let upper = vec3<u32>(boxes[at + 3u], boxes[at + 4u], boxes[at + 5u]);
        live += select(1u, 0u, is_nan(lower.x));
        if is_usable(lower, upper) {
            let corner = vec3<u32>(ordered(lower.x), ordered(lower.y), ordered(lower.z));
            low = max(low, ~corner);
            high = max(high, corner);
        }
    }
    // One thread speaks for its neighbours, if the device lets them talk.
    low = lanes_max(low);
    high = lanes_max(high);
    live = lanes_sum(live);
    if lanes_speaker(thread) {
        for (var axis = 0u; axis < 3u; axis += 1u) {
            atomicMax(&found[axis], low[axis]);
            atomicMax(&found[3u + axis], high[axis]);
        }
        atomicAdd(&found[6], live);
    }
    workgroupBarrier();
    if thread < 3u {
        atomicMax(&work[LOW_INVERTED + thread], atomicLoad(&found[thread]));
        atomicMax(&work[HIGH + thread], atomicLoad(&found[3u + thread]));
    }
    if thread == 3u {
        atomicAdd(&work[LIVE], atomicLoad(&found[6]));
    }
}
