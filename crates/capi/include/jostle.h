/*
 * jostle.h: which of a million moving boxes touch, exactly; shapes and contacts too.
 *
 * Made by cbindgen from the sources of libjostle; do not edit.
 *
 * Calls return a jostle_status. Unless it is JOSTLE_OK, nothing has changed, outputs are not
 * written, and jostle_last_error() says in words what was wrong.
 *
 * Pointers: arrays come with their length and may be null if it is 0. Null where something is
 * expected, wrong alignment and impossible lengths are refused. Inputs are read during the call and
 * not kept; nobody may write to them meanwhile. Outputs belong to the caller, except where a
 * comment says how long the library's memory may be read.
 *
 * Handles (jostle_detector, jostle_shape) are numbers. One that was freed, or never was given out,
 * is refused with JOSTLE_BAD_HANDLE, so freeing twice does no harm. All calls may be made from any
 * thread; see jostle_detector.
 *
 * Ids of boxes are 64 bits: the slot, by which pairs name the box, in the lower 32, and in the upper
 * ones how many boxes held the slot before. An id whose box was removed is refused for good.
 */

#ifndef JOSTLE_H
#define JOSTLE_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It grows when something that compiled programs rely on changes;
// compare it with the one that the library reports.
#define JOSTLE_ABI_VERSION 1

// The id of no box.
#define JOSTLE_NO_ID UINT64_MAX

// The owner of a box that belongs to nobody.
#define JOSTLE_NOBODY UINT32_MAX

// What a call returns. Unless it is JOSTLE_OK, nothing has changed, the outputs are not written,
// and jostle_last_error() says in words what was wrong.
typedef enum jostle_status {
    // Done.
    JOSTLE_OK = 0,
    // A pointer is null or not aligned, or a length is too large.
    JOSTLE_BAD_ARGUMENT = 1,
    // A handle names no object: it was freed, or never given out.
    JOSTLE_BAD_HANDLE = 2,
    // A box has NaN in it or a lower bound above its upper one.
    JOSTLE_BAD_BOX = 3,
    // An id names no box.
    JOSTLE_BAD_ID = 4,
    // A batch names a box twice or has the wrong length.
    JOSTLE_BAD_BATCH = 5,
    // More pairs overlap than the limit allows; the changes stay pending.
    JOSTLE_TOO_MANY_PAIRS = 6,
    // A shape cannot be made.
    JOSTLE_BAD_SHAPE = 7,
    // A pose or a motion is refused.
    JOSTLE_BAD_POSE = 8,
    // The caller's buffer is too small; the needed length is written.
    JOSTLE_BUFFER_TOO_SMALL = 9,
    // Threads could not be started.
    JOSTLE_NO_THREADS = 10,
    // A fault of the library. The object of the call must not be used again, only freed.
    JOSTLE_INTERNAL = 11,
} jostle_status;

// What a detector is made with. All zero means: the automatic choice, one thread for each core,
// and the usual limit.
typedef struct jostle_detector_options {
    // The name of an algorithm; null for "auto".
    const char *algorithm;
    // How many threads steps may use; 0 for one on each core.
    uint32_t threads;
    // How many pairs may overlap before a step is refused; 0 for the usual limit.
    uint64_t pair_limit;
} jostle_detector_options;

// Follows moving boxes and tells, step by step, which pairs begin and cease to overlap. Any number
// of threads may use one: changes wait for each other, queries run at the same time.
typedef struct jostle_detector {
    // The library's.
    uint64_t handle;
} jostle_detector;

// An axis-aligned box: all points between two corners. Boxes that touch overlap.
typedef struct jostle_aabb {
    // The lower corner.
    float min[3];
    // The upper corner.
    float max[3];
} jostle_aabb;

// Which boxes a box may pair with: each has to be in a group of the other's mask, their owners
// have to differ, and not both may be still.
typedef struct jostle_filter {
    // The groups that the box is in, one bit each.
    uint32_t membership;
    // The groups that it pairs with, one bit each.
    uint32_t mask;
    // Boxes of one owner do not pair; JOSTLE_NOBODY for nobody's.
    uint32_t owner;
    // Boxes that are still, with any number but 0 here, do not pair with each other.
    uint32_t still;
} jostle_filter;

// Two boxes by their slots, the lower 32 bits of their ids; the smaller first.
typedef struct jostle_pair {
    // The smaller slot.
    uint32_t a;
    // The larger slot.
    uint32_t b;
} jostle_pair;

// What began and what ended in a step, each sorted. The arrays belong to the detector: they may be
// read until its next step, or until it is freed.
typedef struct jostle_events {
    // Pairs that overlap now and did not before.
    const struct jostle_pair *began;
    // How many began.
    size_t began_count;
    // Pairs that overlapped before and do not now.
    const struct jostle_pair *ended;
    // How many ended.
    size_t ended_count;
} jostle_events;

// What an algorithm counted in its last step.
typedef struct jostle_stats {
    // Box against box tests.
    uint64_t tests;
    // Swaps of neighbours in sorted lists.
    uint64_t swaps;
    // Bytes held beyond the boxes and the pairs.
    uint64_t bytes;
} jostle_stats;

// A shape. Shapes do not change; free them when nothing asks about them any more. Capsules,
// cylinders and cones stand along y, around the origin.
typedef struct jostle_shape {
    // The library's.
    uint64_t handle;
} jostle_shape;

// A position and a rotation.
typedef struct jostle_pose {
    // Where the origin of the shape is.
    double translation[3];
    // A unit quaternion: x, y, z, w.
    double rotation[4];
} jostle_pose;

// A shape at a pose.
typedef struct jostle_placed {
    // The shape.
    struct jostle_shape shape;
    // Where it is.
    struct jostle_pose pose;
} jostle_placed;

// How two shapes are to each other.
typedef struct jostle_contact {
    // How far apart they are, 0 if they touch or overlap.
    double distance;
    // How deep they overlap, 0 if they do not.
    double depth;
    // From a to b, of length 1.
    double normal[3];
    // The nearest or deepest point of a.
    double point_a[3];
    // The nearest or deepest point of b.
    double point_b[3];
    // No more than the true distance, or no less than the true depth is off by.
    double bound;
    // 0 separated, 1 touching, 2 overlapping.
    uint32_t status;
    // 0 by a closed form, 1 converged, 2 stalled, 3 the step limit was reached.
    uint32_t ending;
} jostle_contact;

// A steady motion.
typedef struct jostle_motion {
    // How far it goes in one unit of time.
    double linear[3];
    // An axis times radians per unit of time. Half-spaces do not turn.
    double angular[3];
} jostle_motion;

// The first touch of two shapes that move.
typedef struct jostle_impact {
    // When they first touch; the duration if they do not.
    double time;
    // 0 at the start, 1 at `time`, 2 not within the duration, 3 undecided but not before `time`.
    uint32_t status;
    // Measurements of the distance that were made.
    uint32_t steps;
    // How they are to each other at that time.
    struct jostle_contact contact;
} jostle_impact;

// Pairs that belong to the caller. Free it with jostle_pair_list_free.
typedef struct jostle_pair_list {
    // The pairs, sorted; they may be read until the list is freed.
    const struct jostle_pair *pairs;
    // How many there are.
    size_t count;
    // The library's.
    uint64_t owner;
} jostle_pair_list;

// What a batch of queries found. It belongs to the caller: free it with jostle_found_free. The
// answer to query k is at offsets[k] to offsets[k + 1] of the other arrays.
typedef struct jostle_found {
    // One more than there were queries.
    const size_t *offsets;
    // Ids of boxes.
    const uint64_t *ids;
    // Distances or times, one for each id; null if the question has none.
    const double *values;
    // How many queries there were.
    size_t queries;
    // How many ids were found.
    size_t count;
    // The library's.
    uint64_t owner;
} jostle_found;

// A box, or a point as a box of no size, that moves on a straight line.
typedef struct jostle_cast {
    // Where it begins.
    struct jostle_aabb start;
    // How far it goes in one unit of time.
    float direction[3];
    // When it ends; may be infinite.
    float limit;
} jostle_cast;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that the library was built with.
uint32_t jostle_abi_version(void);

// The version of the library, such as "0.1.0".
const char *jostle_version(void);

// Makes an empty detector. `options` may be null.
enum jostle_status jostle_detector_new(const struct jostle_detector_options *options,
                                       struct jostle_detector *out);

// Makes a detector that continues as this one would, with the same bytes: what a rollback needs.
enum jostle_status jostle_detector_clone(struct jostle_detector detector,
                                         struct jostle_detector *out);

// Frees a detector. Freeing it twice is refused.
enum jostle_status jostle_detector_free(struct jostle_detector detector);

// Adds boxes and writes their ids. `filters` holds `filter_count` filters: none (pairs with
// everything), one for all boxes, or one for each.
enum jostle_status jostle_detector_insert(struct jostle_detector detector,
                                          const struct jostle_aabb *boxes,
                                          size_t count,
                                          const struct jostle_filter *filters,
                                          size_t filter_count,
                                          uint64_t *ids);

// Gives some boxes new bounds. The same bounds are no change.
enum jostle_status jostle_detector_set(struct jostle_detector detector,
                                       const uint64_t *ids,
                                       const struct jostle_aabb *boxes,
                                       size_t count);

// Gives every box new bounds, in ascending order of slots. What has not changed costs no more than
// reading it.
enum jostle_status jostle_detector_set_all(struct jostle_detector detector,
                                           const struct jostle_aabb *boxes,
                                           size_t count);

// Removes boxes; their pairs end with the next step.
enum jostle_status jostle_detector_remove(struct jostle_detector detector,
                                          const uint64_t *ids,
                                          size_t count);

// Gives boxes another filter, the same for all of them.
enum jostle_status jostle_detector_set_filter(struct jostle_detector detector,
                                              const uint64_t *ids,
                                              size_t count,
                                              struct jostle_filter filter);

// Never reports this pair of boxes again (any number but 0 in `excluded`), or does so again (0).
enum jostle_status jostle_detector_exclude(struct jostle_detector detector,
                                           uint64_t one,
                                           uint64_t other,
                                           int excluded);

// Stores 64 bits of the caller's with a box.
enum jostle_status jostle_detector_set_user_data(struct jostle_detector detector,
                                                 uint64_t id,
                                                 uint64_t data);

// What was stored with the box in a slot, 0 if nothing was. The data of a removed box can be read
// while its ended events are delivered.
enum jostle_status jostle_detector_user_data(struct jostle_detector detector,
                                             uint32_t slot,
                                             uint64_t *out);

// Finds what began and what ended since the last step. `events` may be null.
enum jostle_status jostle_detector_step(struct jostle_detector detector,
                                        struct jostle_events *events);

// Every overlapping pair after the last step, sorted. The array belongs to the detector: it may be
// read until its next step, or until it is freed.
enum jostle_status jostle_detector_pairs(struct jostle_detector detector,
                                         const struct jostle_pair **out,
                                         size_t *count);

// The number of boxes.
enum jostle_status jostle_detector_count(struct jostle_detector detector, size_t *out);

// The ids of all boxes, in ascending order of slots, into a buffer of the caller's. `count` is
// written in any case that is not a bad argument.
enum jostle_status jostle_detector_ids(struct jostle_detector detector,
                                       uint64_t *buffer,
                                       size_t capacity,
                                       size_t *count);

// The id of the box in a slot, by which pairs name it; JOSTLE_NO_ID if there is none.
enum jostle_status jostle_detector_id_at(struct jostle_detector detector,
                                         uint32_t slot,
                                         uint64_t *out);

// The bounds of some boxes.
enum jostle_status jostle_detector_get(struct jostle_detector detector,
                                       const uint64_t *ids,
                                       size_t count,
                                       struct jostle_aabb *out);

// Replaces the algorithm. Pairs and events continue as if nothing had happened.
enum jostle_status jostle_detector_set_algorithm(struct jostle_detector detector, const char *name);

// Sets how many pairs may overlap before a step is refused.
enum jostle_status jostle_detector_set_pair_limit(struct jostle_detector detector, uint64_t limit);

// Why the algorithm does what it does, as text that ends with a zero byte, into a buffer of the
// caller's. `length` counts the zero byte. Empty for an algorithm that does not choose.
enum jostle_status jostle_detector_reason(struct jostle_detector detector,
                                          char *buffer,
                                          size_t capacity,
                                          size_t *length);

// What the algorithm counted in its last step.
enum jostle_status jostle_detector_stats(struct jostle_detector detector, struct jostle_stats *out);

// How each of `count` pairs of shapes are to each other. A margin makes both shapes rounder and
// larger by half of it each.
enum jostle_status jostle_contacts(const struct jostle_placed *a,
                                   const struct jostle_placed *b,
                                   size_t count,
                                   double margin,
                                   struct jostle_contact *out);

// How far each of `count` pairs of shapes are apart, 0 if they touch or overlap.
enum jostle_status jostle_distances(const struct jostle_placed *a,
                                    const struct jostle_placed *b,
                                    size_t count,
                                    double margin,
                                    double *out);

// Whether each of `count` pairs of shapes touch or overlap: 1 or 0.
enum jostle_status jostle_intersects(const struct jostle_placed *a,
                                     const struct jostle_placed *b,
                                     size_t count,
                                     double margin,
                                     uint8_t *out);

// When each of `count` pairs of moving shapes first touch, from time 0 to `duration`.
enum jostle_status jostle_impacts(const struct jostle_placed *a,
                                  const struct jostle_placed *b,
                                  const struct jostle_motion *motions_a,
                                  const struct jostle_motion *motions_b,
                                  size_t count,
                                  double duration,
                                  struct jostle_impact *out);

// Every overlapping pair of some boxes; pairs name boxes by their places. On `threads` threads, 0
// for one on each core.
enum jostle_status jostle_overlaps(const struct jostle_aabb *boxes,
                                   size_t count,
                                   uint32_t threads,
                                   struct jostle_pair_list *out);

// Every overlap of a box of one list with a box of another. Pairs are a place in the first list
// and a place in the second. Overlaps within a list are not looked for.
enum jostle_status jostle_overlaps_between(const struct jostle_aabb *first,
                                           size_t first_count,
                                           const struct jostle_aabb *second,
                                           size_t second_count,
                                           uint32_t threads,
                                           struct jostle_pair_list *out);

// Frees a list and empties it, so that freeing it again does nothing. Freeing a copy of a list
// that was freed is refused.
enum jostle_status jostle_pair_list_free(struct jostle_pair_list *list);

// Frees answers and empties the struct, so that freeing it again does nothing. Freeing a copy of
// one that was freed is refused.
enum jostle_status jostle_found_free(struct jostle_found *found);

// Boxes that overlap each of some boxes, ascending; a point is a box of no size. `filter` may be
// null. Pending changes are seen.
enum jostle_status jostle_detector_overlapping(struct jostle_detector detector,
                                               const struct jostle_aabb *asked,
                                               size_t count,
                                               const struct jostle_filter *filter,
                                               struct jostle_found *out);

// Boxes no farther than `radius` from each of some points, nearest first; values are distances.
// Points are three numbers each.
enum jostle_status jostle_detector_within(struct jostle_detector detector,
                                          const float *points,
                                          size_t count,
                                          float radius,
                                          const struct jostle_filter *filter,
                                          struct jostle_found *out);

// The `wanted` boxes nearest to each of some points, nearest first; values are distances. Points
// are three numbers each.
enum jostle_status jostle_detector_nearest(struct jostle_detector detector,
                                           const float *points,
                                           size_t count,
                                           size_t wanted,
                                           const struct jostle_filter *filter,
                                           struct jostle_found *out);

// Every box that each of some casts touches, in the order in which it meets them; values are
// times.
enum jostle_status jostle_detector_hits(struct jostle_detector detector,
                                        const struct jostle_cast *casts,
                                        size_t count,
                                        const struct jostle_filter *filter,
                                        struct jostle_found *out);

// The box that each of some casts touches first, and when: JOSTLE_NO_ID and infinity for one that
// misses. Both arrays have room for `count`; either may be null.
enum jostle_status jostle_detector_first_hits(struct jostle_detector detector,
                                              const struct jostle_cast *casts,
                                              size_t count,
                                              const struct jostle_filter *filter,
                                              uint64_t *ids,
                                              double *times);

// A ball around the origin.
enum jostle_status jostle_shape_sphere(double radius, struct jostle_shape *out);

// A box around the origin, from half its lengths.
enum jostle_status jostle_shape_cuboid(double half_x,
                                       double half_y,
                                       double half_z,
                                       struct jostle_shape *out);

// A segment along y, `half_height` up and down, with a radius.
enum jostle_status jostle_shape_capsule(double radius,
                                        double half_height,
                                        struct jostle_shape *out);

// A cylinder along y.
enum jostle_status jostle_shape_cylinder(double radius,
                                         double half_height,
                                         struct jostle_shape *out);

// A cone along y, its tip up.
enum jostle_status jostle_shape_cone(double radius, double half_height, struct jostle_shape *out);

// An ellipsoid around the origin, from half its lengths.
enum jostle_status jostle_shape_ellipsoid(double radius_x,
                                          double radius_y,
                                          double radius_z,
                                          struct jostle_shape *out);

// All points whose product with the normal is at most the offset. The normal may have any length
// but 0.
enum jostle_status jostle_shape_half_space(double normal_x,
                                           double normal_y,
                                           double normal_z,
                                           double offset,
                                           struct jostle_shape *out);

// The convex hull of some points, three numbers each.
enum jostle_status jostle_shape_hull(const double *points, size_t count, struct jostle_shape *out);

// Several convex shapes in one, each at a pose. They may be freed afterwards.
enum jostle_status jostle_shape_compound(const struct jostle_shape *shapes,
                                         const struct jostle_pose *poses,
                                         size_t count,
                                         struct jostle_shape *out);

// Frees a shape. Freeing it twice is refused.
enum jostle_status jostle_shape_free(struct jostle_shape shape);

// The box around a shape at a pose.
enum jostle_status jostle_shape_bounds(struct jostle_shape shape,
                                       struct jostle_pose pose,
                                       struct jostle_aabb *out);

// What went wrong in the last call of this thread that failed; empty if none did. The text may be
// read until the next call of this thread fails.
const char *jostle_last_error(void);

// The filter of boxes that pair with everything.
struct jostle_filter jostle_filter_all(void);

// The pose at the origin, not turned.
struct jostle_pose jostle_pose_identity(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JOSTLE_H */

/* The slot of an id: what pairs name a box by. */
#define JOSTLE_SLOT(id) ((uint32_t)((id) & 0xFFFFFFFFu))
