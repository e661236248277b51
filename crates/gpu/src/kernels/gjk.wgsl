// ISA-GJK on parts (convex pieces in their places) in f32, with a bound on every error it can make.
// Shared by `narrow_thread.wgsl` and `narrow_group.wgsl`, which differ in how they search vertices.
//
// A part is a core and a radius about it. The pair is scaled by a power of two so that its size,
// the sum of both reaches, is from 1 to 2, and seen from the difference of both centres. WGSL
// allows an error of one unit U in the last place for +, - and *, 2.5 for / and less than 6 for a
// root. Then, at size 2 and with centres up to 4 apart:
//
//   direction into a part's frame     4 U of the matrix and its products, 8 U in length
//   height of the furthest point     12 U x reach; 16 U for roots
//   height of the centres' offset     8 U x 4
//   sums, radii, length of the axis  40 U
//
// which is below 256 U together: a height beyond the radii by that much proves that the parts are
// apart. A point mixed from corners of the difference is within 142 U of a true one: one that near
// to the origin, less the radii, proves that they overlap. The offset of the centres is made of two
// f32 for each coordinate; what they leave out is 8 U² of the larger distance from the origin.

const UNIT: f32 = 1.1920929e-7;
const SLACK: f32 = 256.0 * UNIT;
const STEPS: u32 = 32u;

const UNDECIDED: u32 = 0u;
const APART: u32 = 1u;
const OVERLAPPING: u32 = 2u;
const GO_ON: u32 = 3u;

const NO_SHAPE: u32 = 0u;
const SEGMENT: u32 = 1u;
const CUBOID: u32 = 2u;
const CYLINDER: u32 = 3u;
const CONE: u32 = 4u;
const ELLIPSOID: u32 = 5u;
const POINTS: u32 = 6u;
const HALF_SPACE: u32 = 7u;

struct Params { count: u32, groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> answers: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> slots: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> parts: array<u32>;
@group(0) @binding(5) var<storage, read> shapes: array<u32>;
@group(0) @binding(6) var<storage, read> data: array<u32>;

struct Part {
    turn: mat3x3<f32>,
    high: vec3<f32>,
    low: vec3<f32>,
    kind: u32,
    radius: f32,
    sizes: vec3<f32>,
    reach: f32,
    first: u32,    // of its vertices, in words of `data`
    count: u32,    // of its vertices
    climb: f32,    // what a climb may miss, 0 if vertices are scanned
    cells: u32,    // of the cube map along an edge
    cube_map: u32,
    links: u32,    // of each vertex: where its neighbours begin, and one more
}

fn number(at: u32) -> f32 {
    return bitcast<f32>(parts[at]);
}

fn vector(at: u32) -> vec3<f32> {
    return vec3<f32>(number(at), number(at + 1u), number(at + 2u));
}

fn part_at(index: u32) -> Part {
    var part: Part;
    let at = index * 16u;
    part.turn = mat3x3<f32>(vector(at), vector(at + 3u), vector(at + 6u));
    part.high = vector(at + 9u);
    part.low = vector(at + 12u);
    let shape = parts[at + 15u] * 12u;
    part.kind = shapes[shape];
    part.radius = bitcast<f32>(shapes[shape + 1u]);
    part.sizes = vec3<f32>(
        bitcast<f32>(shapes[shape + 2u]),
        bitcast<f32>(shapes[shape + 3u]),
        bitcast<f32>(shapes[shape + 4u]),
    );
    part.reach = bitcast<f32>(shapes[shape + 5u]);
    part.first = shapes[shape + 6u];
    part.count = shapes[shape + 7u];
    part.climb = bitcast<f32>(shapes[shape + 8u]);
    part.cells = shapes[shape + 9u];
    part.cube_map = shapes[shape + 10u];
    part.links = shapes[shape + 11u];
    return part;
}

fn vertex(at: u32) -> vec3<f32> {
    return vec3<f32>(
        bitcast<f32>(data[at]),
        bitcast<f32>(data[at + 1u]),
        bitcast<f32>(data[at + 2u]),
    );
}

// The end of [-size, size] on the side of a direction.
fn toward(size: f32, direction: f32) -> f32 {
    return select(size, -size, direction < 0.0);
}

// The furthest point of a core that is not given by vertices, and its height.
fn closed_furthest(part: Part, d: vec3<f32>) -> vec4<f32> {
    let sizes = part.sizes;
    switch part.kind {
        case SEGMENT: {
            let y = toward(sizes.y, d.y);
            return vec4<f32>(0.0, y, 0.0, y * d.y);
        }
        case CUBOID: {
            let point = vec3<f32>(toward(sizes.x, d.x), toward(sizes.y, d.y), toward(sizes.z, d.z));
            return vec4<f32>(point, dot(point, d));
        }
        case CYLINDER, CONE: {
            let across = sqrt(d.x * d.x + d.z * d.z);
            var rim = vec2<f32>();
            if across > 1e-15 {
                rim = vec2<f32>(d.x, d.z) / across * sizes.x;
            }
            if part.kind == CYLINDER {
                let y = toward(sizes.y, d.y);
                return vec4<f32>(rim.x, y, rim.y, sizes.x * across + y * d.y);
            }
            let base = sizes.x * across - sizes.y * d.y;
            if sizes.y * d.y >= base {
                return vec4<f32>(0.0, sizes.y, 0.0, sizes.y * d.y);
            }
            return vec4<f32>(rim.x, -sizes.y, rim.y, base);
        }
        default: {
            let stretched = sizes * d;
            let height = length(stretched);
            var point = vec3<f32>();
            if height > 0.0 {
                point = sizes * (stretched / height);
            }
            return vec4<f32>(point, height);
        }
    }
}

// The pair under test.
var<private> offset: vec3<f32>;   // of the centres, from b to a, scaled
var<private> scale: f32;
var<private> radii: f32;          // scaled
var<private> slack: f32;
var<private> axis: vec3<f32>;     // about of unit length
var<private> nearest: vec3<f32>;
var<private> corners: array<vec3<f32>, 4>;
var<private> corner_count: u32;

// Offset of the centres, unscaled.
fn offset_of(a: Part, b: Part) -> vec3<f32> {
    return (a.high - b.high) + (a.low - b.low);
}

// A power of two by which the size comes to lie from 1 to 2.
fn scale_for(size: f32) -> f32 {
    return bitcast<f32>(0x7f000000u - (bitcast<u32>(size) & 0x7f800000u));
}

fn largest(v: vec3<f32>) -> f32 {
    return max(max(abs(v.x), abs(v.y)), abs(v.z));
}

// Looks at the pair; GO_ON if steps are needed. `axis` is then set.
fn begin(a: Part, b: Part) -> u32 {
    if a.kind == NO_SHAPE || b.kind == NO_SHAPE {
        return UNDECIDED;
    }
    let size = a.reach + a.radius + b.reach + b.radius;
    if !(size >= 1e-12) {
        return UNDECIDED;
    }
    scale = scale_for(size);
    offset = offset_of(a, b) * scale;
    radii = (a.radius + b.radius) * scale;
    let far = max(largest(a.high), largest(b.high)) * scale;
    slack = SLACK + 8.0 * UNIT * UNIT * far;
    corner_count = 0u;
    if largest(offset) * (1.0 - 8.0 * UNIT) - slack > 2.1 {
        return APART;
    }
    nearest = offset;
    if dot(nearest, nearest) < 1e-12 {
        nearest = vec3<f32>(1.0, 0.0, 0.0);
    }
    axis = nearest * inverseSqrt(dot(nearest, nearest));
    return GO_ON;
}

// The axis in the parts' frames, as the searches need it.
fn into_a(a: Part) -> vec3<f32> {
    return -axis * a.turn;
}

fn into_b(b: Part) -> vec3<f32> {
    return axis * b.turn;
}

// Takes the furthest points along the axis in.
fn proceed(a: Part, b: Part, on_a: vec4<f32>, on_b: vec4<f32>) -> u32 {
    let height = dot(axis, offset) - (on_a.w + on_b.w) * scale;
    if height - slack > radii {
        return APART;
    }
    let corner = offset + (a.turn * on_a.xyz - b.turn * on_b.xyz) * scale;
    for (var k = 0u; k < corner_count; k += 1u) {
        if all(corners[k] == corner) {
            return UNDECIDED;
        }
    }
    corners[corner_count] = corner;
    corner_count += 1u;
    if reduce() {
        return select(UNDECIDED, OVERLAPPING, surrounds());
    }
    let square = dot(nearest, nearest);
    if square < slack * slack * 0.01 {
        return select(UNDECIDED, OVERLAPPING, radii > 2.0 * slack);
    }
    let distance = sqrt(square);
    if distance + slack <= radii {
        return OVERLAPPING;
    }
    axis = nearest / distance;
    return GO_ON;
}

// Sets `nearest` and keeps the corners that it is mixed of. True if the origin is inside.
fn reduce() -> bool {
    switch corner_count {
        case 1u: {
            nearest = corners[0];
        }
        case 2u: {
            nearest = on_segment(corners[0], corners[1]);
        }
        case 3u: {
            nearest = on_triangle(corners[0], corners[1], corners[2]);
        }
        default: {
            return reduce_tetrahedron();
        }
    }
    return false;
}

fn keep_one(a: vec3<f32>) -> vec3<f32> {
    corners[0] = a;
    corner_count = 1u;
    return a;
}

// The point of a segment nearest to the origin.
fn on_segment(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let edge = b - a;
    let along = -dot(a, edge);
    let whole = dot(edge, edge);
    if along <= 0.0 || whole <= 0.0 {
        return keep_one(a);
    }
    if along >= whole {
        return keep_one(b);
    }
    corners[0] = a;
    corners[1] = b;
    corner_count = 2u;
    let share = clamp(along / whole, 0.0, 1.0);
    return a * (1.0 - share) + b * share;
}

// The point of a triangle nearest to the origin, by the regions around it.
fn on_triangle(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec3<f32> {
    let ab = b - a;
    let ac = c - a;
    let d1 = -dot(ab, a);
    let d2 = -dot(ac, a);
    if d1 <= 0.0 && d2 <= 0.0 {
        return keep_one(a);
    }
    let d3 = -dot(ab, b);
    let d4 = -dot(ac, b);
    if d3 >= 0.0 && d4 <= d3 {
        return keep_one(b);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return on_segment(a, b);
    }
    let d5 = -dot(ab, c);
    let d6 = -dot(ac, c);
    if d6 >= 0.0 && d5 <= d6 {
        return keep_one(c);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return on_segment(a, c);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return on_segment(b, c);
    }
    let sum = va + vb + vc;
    if !(sum > 0.0) {
        return on_segment(a, b);
    }
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
    corner_count = 3u;
    let second = clamp(vb / sum, 0.0, 1.0);
    let third = clamp(vc / sum, 0.0, 1.0 - second);
    return a * (1.0 - second - third) + b * second + c * third;
}

// Returns true if the origin is on the other side of the triangle than `inner`.
fn outside(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>, inner: vec3<f32>) -> bool {
    let normal = cross(b - a, c - a);
    return dot(-a, normal) * dot(inner - a, normal) <= 0.0;
}

fn reduce_tetrahedron() -> bool {
    let a = corners[0];
    let b = corners[1];
    let c = corners[2];
    let d = corners[3];
    var best = vec3<f32>();
    var kept: array<vec3<f32>, 4>;
    var kept_count = 0u;
    var least = 3.0e38;
    for (var face = 0u; face < 4u; face += 1u) {
        // The face across from one corner.
        var p = a;
        var q = b;
        var r = c;
        var inner = d;
        if face == 1u {
            r = d;
            inner = c;
        } else if face == 2u {
            q = c;
            r = d;
            inner = b;
        } else if face == 3u {
            p = b;
            q = c;
            r = d;
            inner = a;
        }
        if !outside(p, q, r, inner) {
            continue;
        }
        let point = on_triangle(p, q, r);
        let square = dot(point, point);
        if square < least {
            least = square;
            best = point;
            kept = corners;
            kept_count = corner_count;
        }
    }
    if kept_count == 0u {
        corners[0] = a;
        corners[1] = b;
        corners[2] = c;
        corners[3] = d;
        corner_count = 4u;
        return true;
    }
    nearest = best;
    corners = kept;
    corner_count = kept_count;
    return false;
}

fn volume(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> f32 {
    return dot(a, cross(b, c));
}

// Returns true if the origin is inside the four corners, however each of them errs: a corner is
// within 96 U of a true one, and a volume within 64 U of the cube of the largest length.
fn surrounds() -> bool {
    let a = corners[0];
    let b = corners[1];
    let c = corners[2];
    let d = corners[3];
    let most = 1.001 * sqrt(max(max(dot(a, a), dot(b, b)), max(dot(c, c), dot(d, d))));
    let err = slack - SLACK + 320.0 * UNIT + 64.0 * UNIT * most;
    let doubt = 3.0 * most * most * err;
    let one = volume(b, c, d);
    let two = volume(a, d, c);
    let three = volume(a, b, d);
    let four = volume(a, c, b);
    let least = min(min(one, two), min(three, four));
    let highest = max(max(one, two), max(three, four));
    return least > doubt || highest < -doubt;
}

// Scale and axis for a half-space a against a bounded part b: along its normal, out of the solid.
fn begin_half_space(a: Part, b: Part) -> u32 {
    let size = b.reach + b.radius;
    if b.kind == NO_SHAPE || b.kind == HALF_SPACE || !(size >= 1e-12) {
        return UNDECIDED;
    }
    scale = scale_for(size);
    offset = offset_of(b, a) * scale;
    radii = b.radius * scale;
    let far = max(largest(a.high), largest(b.high)) * scale;
    slack = SLACK + 96.0 * UNIT * largest(offset) + 8.0 * UNIT * UNIT * far;
    axis = a.turn * a.sizes;
    return GO_ON;
}

// The answer, given the furthest point of b into the solid. What a climb may have missed proves no
// overlap: for that the point itself has to be in the solid.
fn end_half_space(b: Part, on_b: vec4<f32>) -> u32 {
    let height = dot(axis, offset);
    if height - on_b.w * scale - slack > radii {
        return APART;
    }
    let reached = dot(on_b.xyz, -axis * b.turn) * scale;
    return select(UNDECIDED, OVERLAPPING, height - reached + slack < radii);
}

// Puts the answer of a pair among the others, two bits each.
fn put_answer(pair: u32, answer: u32) {
    if answer != UNDECIDED {
        atomicOr(&answers[pair >> 4u], answer << ((pair & 15u) * 2u));
    }
}

// The answer of a whole from those of its parts: one overlap is enough, every gap is needed.
fn joined(all: u32, part: u32) -> u32 {
    if all == OVERLAPPING || part == OVERLAPPING {
        return OVERLAPPING;
    }
    return select(UNDECIDED, APART, all == APART && part == APART);
}
