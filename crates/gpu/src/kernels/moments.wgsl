// Sums of centres, of their squares and of extents on each axis, for the variance and the mean
// extent. Everything is taken relative to the range of the lower corners, so that squares neither
// overflow nor vanish. One row of sums for each workgroup.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;

var<workgroup> sums: array<f32, 2560>;
var<workgroup> rakes: array<f32, 160>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    var low: vec3<f32>;
    var scale: vec3<f32>;
    for (var axis = 0u; axis < 3u; axis += 1u) {
        low[axis] = unordered(~work[LOW_INVERTED + axis]);
        let spread = unordered(work[HIGH + axis]) - low[axis];
        scale[axis] = select(0.0, 1.0 / spread, spread > 1e-35);
    }
    let mine = share(work[SLOTS], group.x, params.groups);
    var count = 0.0;
    var centres = vec3<f32>();
    var squares = vec3<f32>();
    var extents = vec3<f32>();
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let at = i * 6u;
        let lower = vec3<u32>(boxes[at], boxes[at + 1u], boxes[at + 2u]);
        let upper = vec3<u32>(boxes[at + 3u], boxes[at + 4u], boxes[at + 5u]);
        if is_usable(lower, upper) {
            let begin = (bitcast<vec3<f32>>(lower) - low) * scale;
            let extent = min((bitcast<vec3<f32>>(upper) - low) * scale - begin, vec3<f32>(1.0));
            let centre = begin + 0.5 * extent;
            count += 1.0;
            centres += centre;
            squares += centre * centre;
            extents += extent;
        }
    }
    sums[thread] = count;
    for (var axis = 0u; axis < 3u; axis += 1u) {
        sums[(1u + axis) * 256u + thread] = centres[axis];
        sums[(4u + axis) * 256u + thread] = squares[axis];
        sums[(7u + axis) * 256u + thread] = extents[axis];
    }
    workgroupBarrier();
    if thread < 160u {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k += 1u) {
            sum += sums[(thread >> 4u) * 256u + (thread & 15u) * 16u + k];
        }
        rakes[thread] = sum;
    }
    workgroupBarrier();
    if thread < 10u {
        var sum = 0.0;
        for (var k = 0u; k < 16u; k += 1u) {
            sum += rakes[thread * 16u + k];
        }
        work[MOMENTS + group.x * 10u + thread] = bitcast<u32>(sum);
    }
}
