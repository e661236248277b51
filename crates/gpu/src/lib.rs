//! Jostle on a GPU: the broad phase by subdivide, sort and sweep and the narrow phase by batched
//! ISA-GJK (Loi, *Fast GPU-based Collision Detection*, 2010, chapter 6), on Vulkan, Metal and DX12
//! through `wgpu`. No pair is ever lost, no buffer size has to be guessed, and the results are the
//! processor's, byte for byte.
//!
//! ```no_run
//! use jostle::{Aabb, Detector, Filter, Workers};
//! use jostle_gpu::{Gpu, GpuChoice, GpuSweep};
//!
//! let gpu = Gpu::open(&GpuChoice::Fastest)?;
//! let broad = Box::new(GpuSweep::new(&gpu));
//! let mut detector = Detector::with_broad_phase(broad, Workers::one());
//! detector.boxes_mut().insert_all(&[Aabb::default(); 2], Filter::ALL)?;
//! assert_eq!(detector.step()?.began.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`GpuSweep`] is a broad phase for any [`Detector`](jostle::Detector) and
//! [`World`](jostle::World), [`GpuNarrow`] a narrow phase for worlds. [`GpuSweep::rival`] lets
//! `auto` choose between the device and the processor.
//!
//! # A step
//!
//! ```text
//!   host                         device
//!  ──────                       ────────────────────────────────────────────────────────────
//!  changed boxes ──24 B each──►  upload       to their slots
//!                                bounds       range of the lower corners, ordered integers
//!                                moments      variance of the centres, mean extents
//!                                plan         sweep axis; borders of the finest grid across it
//!                                levels       cells of each box; entries and giants per level
//!                                choose       the level that costs least; buckets
//!                                count, scan  entries of each bucket     Σ = entries
//!                                fill         (column, start) and box, to its bucket
//!                                settle       sorts each bucket          or: 12 passes of 4 bits
//!                                runs         where each column begins
//!                                candidates   what each entry must be tested against, scan
//!                                sweep        count hits of each box, scan   Σ = pairs
//!                                sweep        write pairs, box by box
//!                                settle       sorts those of each box    or: 10 passes of 4 bits
//!                                diff         count events, scan         Σ = events
//!  began, ended ◄───8 B each───  diff         write events
//! ```
//!
//! ```text
//!            v ▲   columns across the sweep axis s        entries of a column, sorted by start
//!              │  ┌───┬───┬───┬───┐
//!              │  │   │ ▄▄│▄▄ │   │  a box over a border    s ─►  ├──a──────┤
//!              │  ├───┼─▀▀┼▀▀─┼───┤  has an entry in each            ├──b──┤
//!              │  │   │   │   │ ▪ │                                      ├────c────┤
//!              │  └───┴───┴───┴───┘                          a tests b and c, b tests c
//!              └──────────────────► u
//! ```
//!
//! It is one submission and one wait: counts stay on the device. Every kernel runs a number of
//! workgroups that the host chose when the buffers were made; each takes a contiguous share of
//! however many elements there turn out to be. So the number of dispatches depends on nothing but
//! how the lists are sorted: 29 with changed boxes, 93 in a crowd, up to a million boxes.
//!
//! **Sorted in buckets.** Columns are cut along the sweep axis into as many buckets as there are
//! boxes, in order; a count, a prefix sum and one write bring each entry to its bucket, and a
//! thread sorts each of them, two or three entries as a rule. Pairs go by the same way to a list
//! for each box. This is the hybrid radix sort of Stehle and Jacobsen (*A Memory
//! Bandwidth-Efficient Hybrid Radix Sort on GPUs*, 2017) with a geometric first digit. If a bucket
//! has more than 32 entries, or a box more than 32 pairs, the list is sorted by all its digits
//! instead, however crowded. Both are counted in every step, and choose for the next one; if a
//! step finds that it chose wrongly, it is repeated from there.
//!
//! **Lossless.** Every list is counted exactly before it is written. If a list does not fit, the
//! kernels behind it do nothing, the host makes room for what was counted, and the step is
//! repeated from the boxes, which are on the device already. If the [budget](GpuOptions::budget)
//! or a binding forbids that, the step is done in ranges of columns, entries and candidates.
//!
//! **Exact.** Bounds are compared as ordered integers: a device may flush denormals and need not
//! know infinities. The grid is a table of borders that never descends, made once a step and
//! searched by every kernel; floating-point arithmetic decides how fast a step is and nothing else.
//! A pair that meets in several columns is reported in the one that holds the larger of the two
//! lower corners.
//!
//! **Balanced.** The candidates of all entries stand in one row, of which every thread takes an
//! equal stretch, found by binary search in the prefix sum. A box over more than 32 columns is a
//! giant: one entry, tested against all boxes, by all threads alike.
//!
//! **Filters** are decided in the kernel. Boxes that can never pair (still ones, parts of one large
//! body, groups whose masks exclude each other) are sorted into runs of their own within a column
//! and never meet.
//!
//! # What it costs
//!
//! On the device: 24 bytes a box and 17.5 beyond that (21.5 in small sets; 16 more with filters),
//! 28 an entry, 24 a pair (the list, the last step's, and one to sort through), all with an eighth
//! to spare; 8 an event; 0.2 to 0.8 MB of tables. A box of an even scene has one to two entries.
//!
//! Moved in a step, by the accesses of the kernels: 140 bytes a box, 116 an entry, 16 a candidate,
//! 64 a candidate whose cells meet, 100 a pair. The least possible is 24 a box and 8 a pair. For
//! 100 000 boxes of the scene `uniform` that is 388 bytes a box at density 0.05, where 26 would be
//! the least, and 762 at 0.35, where it is 35: 78 and 152 µs at 500 GB/s, half of that at 1 TB/s,
//! dispatches apart (`jostle bench --scene uniform --n 100000 --set density=0.35 --device gpu
//! --algorithm grid-sweep --json`; `estimate_ms_at_500_gb_s` among its `stats`). Up: 24 bytes a
//! box, or 28 a changed one if at most an eighth changed. Down: 8 bytes an event and 512 of counts.
//! [`stats`](jostle::BroadPhase::stats) counts dispatches, submissions, bytes up and down, bytes
//! read and written on the device, entries and giants. With [`GpuOptions::timestamps`] the device's
//! own clock times the stages.
//!
//! # The narrow phase
//!
//! One more dispatch decides pairs of shapes in f32, with three answers: surely apart, surely
//! overlapping, undecided. An answer is sure because every error of the arithmetic is bounded
//! (`gjk.wgsl` has the account): the rounding of shapes and poses on the way to the device, one
//! unit in the last place for each operation whichever way a device rounds, flushed denormals. The
//! processor's f64 code answers the undecided pairs and computes the contacts of those that touch.
//!
//! ```text
//!  parts that moved ──64 B──►  ┌ one thread a pair ──────┐  or  ┌ one workgroup a pair ─────┐
//!  pairs ──────────────8 B──►  │ scan, or cube map and   │      │ parallel maximum over the │
//!  answers ◄──────── 2 bits──  │ climb, of vertices      │      │ vertices in its memory    │
//!                              └─────────────────────────┘      └───────────────────────────┘
//! ```
//!
//! Both searches of the document are there ([`HullSearch`]). A climb may end early where rounding
//! hides a slope; by how much at most follows from how flat the hull is at its vertices, is
//! computed once for each hull, and added to the bound. Pairs with a gap or depth below some 3e-5
//! of their size are undecided. [`GpuNarrow::stats`] and `World::stats` tell the share decided.
//!
//! # Departures from the document
//!
//! 1. Columns are not shifted one behind the other along the sweep axis by column × extent. In f32
//!    the shift costs the low bits of every coordinate, and boxes that are apart begin to overlap
//!    (`jostle reproduce loi` counts them). The column is the upper half of a 48-bit key instead,
//!    and the start keeps all its bits.
//! 2. There is no bound on the pairs of a box: hits are counted first.
//! 3. Cells are as wide as the mean box and merged 2 × 2 while that is cheaper by exact counts of
//!    entries and giants, instead of a number of cells from the number of boxes.
//! 4. Giants, filters and events are not in the document.
//! 5. The sort goes to buckets first, and by digits only in crowds.
//! 6. The narrow phase gives three answers and not two, and leaves contacts to the processor.
//!
//! # What was tried
//!
//! - The sweep by entries, a thread for some entries whatever their candidates
//!   ([`GpuOptions::sweep_by_entry`]), instead of by candidates: one long box stalls its workgroup.
//!   `jostle reproduce loi --device gpu` times both, and both digits.
//! - Sorts by digits alone ([`GpuOptions::sort_by_digits`]): 484 bytes an entry and not 116, 92
//!   dispatches and not 28, and on llvmpipe, at 4000 boxes, 2.5 times as long for the whole step
//!   (`jostle reproduce loi --quick --device gpu`).
//! - Of those, eight bits a pass instead of four ([`GpuOptions::digits`]): half the passes and half
//!   the bytes, but more work in workgroup memory, and 1.1 times as long there. So four bits stay
//!   the default; a GPU, whose limit is bandwidth, may prefer eight.
//! - A sweep that reads the bounds of every candidate, 24 bytes at random, instead of its cells.
//!   With nested loops, by entry and by candidate, in place of one, both sweeps took 124 and not 61
//!   ms on llvmpipe at density 0.05 (`cargo run --release -p jostle-gpu --example stages -- 100000
//!   0.05`): threads side by side wait for the longest entry of each turn.
//! - A scan with decoupled look-back, one kernel instead of three, needs workgroups that wait for
//!   others to make progress, which WebGPU does not promise. On a device that runs workgroups one
//!   after the other, as a software one does, it may never end. It was not built. Scans move 12 of
//!   the bytes of a box and 12 of an entry, so there is little to gain.
//! - Subgroups combine sums and maxima before atomic operations if the device has them
//!   ([`Gpu::open_plain`] does without), with the same results.
//!
//! # On a real GPU
//!
//! Install the vendor's Vulkan driver (Linux: `mesa-vulkan-drivers` for AMD and Intel, the
//! proprietary package for NVIDIA; nothing on Windows and macOS), then
//!
//! ```text
//! jostle devices                                   # is it there?
//! jostle verify --scene uniform --n 20000 --device gpu
//! jostle bench --scene uniform --n 100000 --device cpu,gpu --algorithm grid-sweep
//! jostle reproduce loi --device gpu                # figures 10, 12 and 13 with its stages
//! ```
//!
//! `Gpu::open(&GpuChoice::Fastest)` picks a discrete GPU before an integrated one, and a software
//! device only if it is asked for by [`GpuChoice::Software`], name or number. The kernels use what
//! every WebGPU device has: eight storage buffers, 16 KiB of workgroup memory, 256 threads, no
//! subgroups, no 64-bit atomics. A set of boxes has to fit one binding: 5.5 million in the 128 MiB
//! that every device has; larger bindings are used if the device has them.

#![forbid(unsafe_code)]

mod buffers;
mod device;
mod groups;
mod kernel;
mod memory;
mod narrow;
mod program;
mod sweep;
mod work;

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod primitive_tests;

pub use device::{Gpu, GpuChoice, GpuError, GpuInfo};
pub use narrow::{GpuNarrow, HullSearch};
pub use sweep::{DevicePairs, Digits, GpuOptions, GpuSweep};

/// The README's example is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
