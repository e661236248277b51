// Chooses the sweep axis, the one along which the centres vary most, and lays a grid across the
// other two: cells about as wide as the mean box, over the range that holds nearly all corners
// (three standard deviations). Each is divided into up to 8 by 8 finer ones, by which the sweep
// tells most boxes apart without looking at their bounds. The sweep axis is cut into 1024 slices.
// What is chosen here decides speed alone. Exactness rests on the table of borders: ordered numbers
// that never descend, with the least number first, so that "the last border not above x" is a map
// from bounds to cells that never descends.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;

var<workgroup> moments: array<f32, 10>;
// Of the two axes across, and of the sweep axis.
var<workgroup> low: array<f32, 3>;
var<workgroup> width: array<f32, 3>;
var<workgroup> cells: array<u32, 3>;
var<workgroup> table: array<u32, 3072>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
    if thread < 10u {
        var sum = 0.0;
        for (var k = 0u; k < params.groups; k += 1u) {
            sum += bitcast<f32>(work[MOMENTS + k * 10u + thread]);
        }
        moments[thread] = sum;
    }
    workgroupBarrier();
    if thread == 0u {
        choose();
    }
    workgroupBarrier();
    for (var side = 0u; side < 3u; side += 1u) {
        for (var k = thread; k < 1024u; k += 256u) {
            let border = low[side] + f32(k) * width[side];
            let number = ordered(bitcast<u32>(border));
            // Beyond the last cell nothing begins.
            let used = select(0xffffffffu, number, k < cells[side]);
            table[side * 1024u + k] = select(used, 0u, k == 0u);
        }
    }
    workgroupBarrier();
    // The running maximum: whatever the arithmetic did, the table does not descend.
    for (var reach = 1u; reach < 1024u; reach <<= 1u) {
        var before: array<u32, 12>;
        for (var k = 0u; k < 12u; k += 1u) {
            let at = k * 256u + thread;
            before[k] = select(0u, table[max(at, reach) - reach], (at & 1023u) >= reach);
        }
        workgroupBarrier();
        for (var k = 0u; k < 12u; k += 1u) {
            table[k * 256u + thread] = max(table[k * 256u + thread], before[k]);
        }
        workgroupBarrier();
    }
    for (var k = thread; k < 3072u; k += 256u) {
        work[BORDERS + k] = table[k];
    }
}

fn choose() {
    let count = max(moments[0], 1.0);
    var spread: vec3<f32>;
    var begin: vec3<f32>;
    var deviation: vec3<f32>;
    var extent: vec3<f32>;
    var reach: vec3<f32>;
    for (var axis = 0u; axis < 3u; axis += 1u) {
        let least = unordered(~work[LOW_INVERTED + axis]);
        let range = select(0.0, unordered(work[HIGH + axis]) - least, moments[0] > 0.0);
        let mean = moments[1u + axis] / count;
        let sigma = sqrt(max(moments[4u + axis] / count - mean * mean, 0.0));
        let start_at = max(0.0, mean - 3.0 * sigma);
        let to = min(1.0, mean + 3.0 * sigma);
        let flat = !(range > 1e-35) || !(to > start_at);
        begin[axis] = least + start_at * range;
        spread[axis] = select((to - start_at) * range, 0.0, flat);
        deviation[axis] = select(sigma * range, 0.0, flat);
        extent[axis] = moments[7u + axis] / count * range;
        reach[axis] = select(extent[axis] / spread[axis], 1.0, flat);
    }
    var axis = 0u;
    if deviation.y > deviation[axis] {
        axis = 1u;
    }
    if deviation.z > deviation[axis] {
        axis = 2u;
    }
    let most = max(work[RUN_BOUND] / work[GROUPS], 1u);
    for (var side = 0u; side < 2u; side += 1u) {
        let across = (axis + 1u + side) % 3u;
        var wanted = 1.0;
        if spread[across] > 0.0 {
            let narrowest = max(extent[across], spread[across] / 1024.0);
            wanted = clamp(spread[across] / narrowest, 1.0, 1024.0);
        }
        cells[side] = u32(wanted);
        low[side] = begin[across];
    }
    for (var k = 0u; k < 20u && cells[0] * cells[1] > most; k += 1u) {
        let wider = select(0u, 1u, cells[1] > cells[0]);
        cells[wider] = (cells[wider] + 1u) / 2u;
    }
    work[AXIS] = axis;
    work[CELLS] = cells[0];
    work[CELLS + 1u] = cells[1];
    work[REACH] = bitcast<u32>(clamp(reach[axis], 1e-6, 1.0));
    var fine = 0u;
    while fine < 3u && max(cells[0], cells[1]) << (fine + 1u) <= 1024u {
        fine += 1u;
    }
    work[FINE] = fine;
    cells[0] <<= fine;
    cells[1] <<= fine;
    cells[2] = select(1u, 1024u, spread[axis] > 0.0);
    low[2] = begin[axis];
    for (var side = 0u; side < 3u; side += 1u) {
        width[side] = spread[(axis + 1u + side) % 3u] / f32(cells[side]);
        work[GUESS + 2u * side] = bitcast<u32>(low[side]);
        let scale = select(0.0, 1.0 / width[side], width[side] > 1e-35);
        work[GUESS + 2u * side + 1u] = bitcast<u32>(scale);
    }
}
