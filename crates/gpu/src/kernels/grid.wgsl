// What the kernels that look at cells share. A box spans cells of the finest grid; 2^shift by
// 2^shift of these are one column. A box over more than GIANT columns is a giant: it has one
// entry, behind all others, and is tested against every box.
//
// A span is two words: first and last cell, ten bits each, on either axis across; above those of
// the first word, ten bits for the slice of the sweep axis where the box begins.

const GIANT: u32 = 32u;
const DEAD: u32 = 0xffffffffu;
const GIANT_RUN: u32 = 0xffffu;
// The mark of a giant among the cells that the sweep looks at.
const GIANT_LOOK: u32 = 0x80000000u;

// The columns of a span: first and last on either axis.
fn columns_of(span: vec2<u32>, shift: u32) -> vec4<u32> {
    let cells = vec4<u32>(span.x, span.x >> 10u, span.y, span.y >> 10u) & vec4<u32>(1023u);
    return cells >> vec4<u32>(shift);
}

fn size_of(columns: vec4<u32>) -> u32 {
    return (columns.y - columns.x + 1u) * (columns.w - columns.z + 1u);
}
