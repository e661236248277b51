// Put in front of every kernel, after the generated constants (`work.rs`).
//
// Every kernel runs a number of workgroups that the host chose, and each workgroup takes one
// contiguous share of the elements, however many there turn out to be: counts stay on the device,
// and the number of dispatches does not depend on them.

// The elements of workgroup `index` of `groups`: whole tiles of 1024, as evenly as that allows.
fn share(count: u32, index: u32, groups: u32) -> vec2<u32> {
    let tiles = (count + 1023u) / 1024u;
    let each = ((tiles + groups - 1u) / groups) * 1024u;
    let begin = min(index * each, count);
    return vec2<u32>(begin, min(begin + each, count));
}

// The number of elements, or none if they did not fit: the host will come again with more room.
fn fitting(count: u32, capacity: u32) -> u32 {
    return select(count, 0u, count > capacity);
}

// Addition that stops at the largest number. It is associative, so prefix sums stay exact below
// it, and a total that reaches it says "too many" instead of wrapping round.
fn add(one: u32, other: u32) -> u32 {
    let sum = one + other;
    return select(sum, 0xffffffffu, sum < one);
}

// The bits of an f32 as a number that orders as the f32 does; -0 and 0 are the same. Integers,
// because a device may flush denormals and need not know infinities.
fn ordered(bits: u32) -> u32 {
    let one_zero = select(bits, 0u, bits == 0x80000000u);
    return select(one_zero | 0x80000000u, ~one_zero, (one_zero & 0x80000000u) != 0u);
}

fn is_nan(bits: u32) -> bool {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}
