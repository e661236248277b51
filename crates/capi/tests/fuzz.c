/* Calls everything with random handles, ids, lengths and numbers, many of them wrong, and checks
 * what can be checked: no crash, no leak (the sanitizers tell), codes that fit, balanced events.
 *
 *   fuzz [SEED] [CALLS]
 */
#include <jostle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((state >> 33) * below) >> 31);
}

static float coordinate(void) {
    switch (draw(400)) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return 3.0e38f;
    default: return (float)draw(16) * 0.5f;
    }
}

enum { MOST = 24, OBJECTS = 6 };

static jostle_detector detectors[OBJECTS];
static jostle_shape shapes[OBJECTS];
static uint64_t ids[64];
static size_t known;
static long counts[16];

static jostle_aabb random_box(void) {
    jostle_aabb box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = coordinate();
        box.max[k] = draw(400) ? box.min[k] + (float)draw(6) : coordinate();
    }
    return box;
}

static uint64_t random_handle(uint64_t real) {
    switch (draw(12)) {
    case 0: return 0;
    case 1: return draw(1u << 30);
    case 2: return ((uint64_t)draw(1u << 30) << 34) | draw(16);
    case 3: return UINT64_MAX;
    default: return real;
    }
}

static jostle_detector a_detector(void) {
    jostle_detector one = {random_handle(detectors[draw(OBJECTS)].handle)};
    return one;
}

static jostle_shape a_shape(void) {
    jostle_shape one = {random_handle(shapes[draw(OBJECTS)].handle)};
    return one;
}

static uint64_t an_id(void) {
    if (known == 0 || draw(10) == 0) {
        return draw(2) ? draw(100) : ((uint64_t)draw(9) << 32 | draw(9));
    }
    return ids[draw((uint32_t)known)];
}

static jostle_filter a_filter(void) {
    jostle_filter filter = jostle_filter_all();
    if (draw(2)) filter.membership = 1u << draw(3);
    if (draw(3) == 0) filter.owner = draw(3);
    filter.still = draw(4) == 0 ? draw(1u << 20) : 0;
    return filter;
}

static jostle_placed a_placed(void) {
    jostle_placed one = {a_shape(), jostle_pose_identity()};
    for (int k = 0; k < 3; k++) one.pose.translation[k] = (double)draw(50) * 0.1;
    if (draw(30) == 0) one.pose.rotation[draw(4)] = (double)coordinate();
    return one;
}

static jostle_status note(jostle_status status) {
    if ((int)status < 0 || (int)status > 11 || status == JOSTLE_INTERNAL) {
        fprintf(stderr, "status %d: %s\n", (int)status, jostle_last_error());
        abort();
    }
    if (status != JOSTLE_OK && strlen(jostle_last_error()) == 0) abort();
    counts[(int)status]++;
    return status;
}

static void use_found(jostle_found *found) {
    size_t total = 0;
    for (size_t k = 0; k < found->queries; k++) {
        if (found->offsets[k] > found->offsets[k + 1]) abort();
        total += found->offsets[k + 1] - found->offsets[k];
    }
    if (total != found->count) abort();
    double sum = 0;
    for (size_t k = 0; k < found->count; k++) {
        sum += found->values ? found->values[k] : (double)found->ids[k];
    }
    if (sum < 0) abort();
    jostle_found copy = *found;
    note(jostle_found_free(found));
    note(jostle_found_free(found));
    if (copy.owner != 0 && note(jostle_found_free(&copy)) != JOSTLE_BAD_HANDLE) abort();
}

static void change(void) {
    jostle_detector detector = a_detector();
    jostle_aabb boxes[MOST];
    jostle_filter filters[MOST];
    uint64_t own[MOST];
    size_t count = draw(MOST);
    for (size_t k = 0; k < count; k++) {
        boxes[k] = random_box();
        filters[k] = a_filter();
        own[k] = an_id();
    }
    switch (draw(9)) {
    case 0:
    case 1: {
        size_t filter_count = draw(4) ? draw(2) : draw(MOST);
        if (filter_count > count) filter_count = count;
        if (note(jostle_detector_insert(detector, boxes, count, filters, filter_count, own)) ==
            JOSTLE_OK) {
            for (size_t k = 0; k < count; k++) {
                if (known < 64) ids[known++] = own[k];
                else ids[draw(64)] = own[k];
            }
        }
        break;
    }
    case 2: note(jostle_detector_set(detector, own, boxes, count)); break;
    case 3: note(jostle_detector_set_all(detector, boxes, count)); break;
    case 4: note(jostle_detector_remove(detector, own, draw(5))); break;
    case 5: note(jostle_detector_set_filter(detector, own, draw(3), filters[0])); break;
    case 6: note(jostle_detector_exclude(detector, an_id(), an_id(), (int)draw(2))); break;
    case 7: note(jostle_detector_set_user_data(detector, an_id(), draw(100))); break;
    default:
        /* Lengths and pointers that cannot be. */
        note(jostle_detector_set_all(detector, boxes, SIZE_MAX - draw(9)));
        note(jostle_detector_insert(detector, NULL, 1 + draw(9), NULL, 0, own));
        note(jostle_detector_insert(detector, boxes, 1, NULL, 3, own));
        note(jostle_detector_set(detector, NULL, boxes, 1));
        note(jostle_detector_remove(detector, NULL, 0));
        break;
    }
}

static void look(void) {
    jostle_detector detector = a_detector();
    jostle_events events;
    jostle_found found;
    uint64_t some[MOST];
    size_t count = 0;
    switch (draw(8)) {
    case 0:
    case 1:
        if (note(jostle_detector_step(detector, &events)) == JOSTLE_OK) {
            for (size_t k = 0; k < events.began_count; k++) {
                if (events.began[k].a >= events.began[k].b) abort();
            }
        }
        break;
    case 2:
        if (note(jostle_detector_ids(detector, some, draw(MOST), &count)) == JOSTLE_OK) {
            if (count >= MOST) abort();
        }
        break;
    case 3: {
        jostle_aabb asked[4] = {random_box(), random_box(), random_box(), random_box()};
        jostle_filter filter = a_filter();
        if (note(jostle_detector_overlapping(detector, asked, draw(5), draw(2) ? &filter : NULL,
                                             &found)) == JOSTLE_OK) {
            use_found(&found);
        }
        break;
    }
    case 4: {
        float points[6] = {coordinate(), 1, 2, 3, coordinate(), 5};
        if (note(draw(2) ? jostle_detector_nearest(detector, points, 2, draw(9), NULL, &found)
                         : jostle_detector_within(detector, points, 2, coordinate(), NULL,
                                                  &found)) == JOSTLE_OK) {
            use_found(&found);
        }
        break;
    }
    case 5: {
        jostle_cast cast = {random_box(), {coordinate(), coordinate(), 1}, coordinate()};
        double time;
        note(jostle_detector_first_hits(detector, &cast, 1, NULL, some, draw(2) ? &time : NULL));
        if (note(jostle_detector_hits(detector, &cast, 1, NULL, &found)) == JOSTLE_OK) {
            use_found(&found);
        }
        break;
    }
    case 6: {
        char text[200];
        const jostle_pair *pairs;
        jostle_stats stats;
        note(jostle_detector_reason(detector, text, draw(200), &count));
        note(jostle_detector_pairs(detector, &pairs, &count));
        note(jostle_detector_stats(detector, &stats));
        note(jostle_detector_pairs(detector, NULL, &count));
        note(jostle_detector_count(detector, NULL));
        break;
    }
    default: {
        jostle_aabb bounds[2];
        uint64_t own[2] = {an_id(), an_id()};
        note(jostle_detector_get(detector, own, 2, bounds));
        note(jostle_detector_user_data(detector, draw(40), some));
        note(jostle_detector_id_at(detector, draw(1u << 31), some));
        break;
    }
    }
}

static void narrow(void) {
    jostle_placed a[3] = {a_placed(), a_placed(), a_placed()};
    jostle_placed b[3] = {a_placed(), a_placed(), a_placed()};
    jostle_contact contacts[3];
    double distances[3];
    uint8_t hits[3];
    size_t count = draw(4);
    if (note(jostle_contacts(a, b, count, 0, contacts)) == JOSTLE_OK) {
        note(jostle_distances(a, b, count, 0, distances));
        note(jostle_intersects(a, b, count, 0, hits));
        for (size_t k = 0; k < count; k++) {
            if (contacts[k].distance != distances[k]) abort();
            if (contacts[k].distance > 0 && contacts[k].depth > 0) abort();
            if (contacts[k].status == 2 && !hits[k]) abort();
        }
    }
    jostle_motion motions[2] = {{{(double)coordinate(), 0, 0}, {0, (double)draw(3), 0}},
                                {{0, 1, 0}, {0, 0, 0}}};
    jostle_impact impact;
    note(jostle_impacts(a, b, &motions[0], &motions[1], 1, (double)draw(3), &impact));
    note(jostle_contacts(a, b, 1, (double)NAN, contacts));
    note(jostle_contacts(a, NULL, 1, 0, contacts));
}

static void objects(void) {
    uint32_t place = draw(OBJECTS);
    static const char *const names[] = {"auto", "bvh", "sap", "grid-sweep", "hash-grid", "nonsense"};
    jostle_detector detector;
    jostle_shape shape;
    switch (draw(8)) {
    case 0: {
        jostle_detector_options options = {names[draw(6)], 1 + draw(2), draw(3) ? 0 : 20};
        if (draw(40) == 0) options.threads = 1u << 30;
        if (note(jostle_detector_new(&options, &detector)) == JOSTLE_OK) {
            jostle_detector_free(detectors[place]);
            detectors[place] = detector;
        }
        note(jostle_detector_new(&options, NULL));
        break;
    }
    case 1:
        if (note(jostle_detector_clone(a_detector(), &detector)) == JOSTLE_OK) {
            jostle_detector_free(detectors[place]);
            detectors[place] = detector;
        }
        break;
    case 2:
        detector = detectors[place];
        note(jostle_detector_free(detector));
        if (note(jostle_detector_free(detector)) != JOSTLE_BAD_HANDLE) abort();
        note(jostle_detector_new(NULL, &detectors[place]));
        break;
    case 3: {
        double points[18];
        for (int k = 0; k < 18; k++) points[k] = (double)draw(5);
        if (draw(10) == 0) points[0] = (double)NAN;
        if (note(jostle_shape_hull(points, draw(7), &shape)) == JOSTLE_OK) {
            jostle_shape_free(shapes[place]);
            shapes[place] = shape;
        }
        break;
    }
    case 4: {
        jostle_shape parts[2] = {a_shape(), a_shape()};
        jostle_pose poses[2] = {jostle_pose_identity(), jostle_pose_identity()};
        if (note(jostle_shape_compound(parts, poses, draw(3), &shape)) == JOSTLE_OK) {
            jostle_shape_free(shapes[place]);
            shapes[place] = shape;
        }
        break;
    }
    case 5:
        if (note(draw(2) ? jostle_shape_sphere((double)coordinate(), &shape)
                         : jostle_shape_half_space((double)coordinate(), 1, 0, 2, &shape)) ==
            JOSTLE_OK) {
            jostle_shape_free(shapes[place]);
            shapes[place] = shape;
        }
        break;
    case 6: {
        jostle_aabb box;
        note(jostle_shape_bounds(a_shape(), jostle_pose_identity(), &box));
        note(jostle_detector_set_algorithm(a_detector(), names[draw(6)]));
        note(jostle_detector_set_pair_limit(a_detector(), draw(3) ? UINT64_MAX : draw(30)));
        break;
    }
    default: {
        jostle_aabb boxes[MOST];
        jostle_pair_list list;
        size_t count = draw(MOST), cut;
        for (size_t k = 0; k < count; k++) boxes[k] = random_box();
        cut = count ? draw((uint32_t)count) : 0;
        if (note(draw(2) ? jostle_overlaps(boxes, count, draw(3), &list)
                         : jostle_overlaps_between(boxes, cut, boxes + cut, count - cut, 1,
                                                   &list)) == JOSTLE_OK) {
            jostle_pair_list copy = list;
            for (size_t k = 0; k < list.count; k++) {
                if (list.pairs[k].a >= count || list.pairs[k].b >= count) abort();
            }
            note(jostle_pair_list_free(&list));
            if (note(jostle_pair_list_free(&copy)) != JOSTLE_BAD_HANDLE) abort();
        }
        break;
    }
    }
}

int main(int argc, char **argv) {
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long calls = argc > 2 ? strtol(argv[2], NULL, 10) : 20000;
    for (int k = 0; k < OBJECTS; k++) {
        note(jostle_detector_new(NULL, &detectors[k]));
        note(jostle_shape_capsule(1, 1 + k, &shapes[k]));
    }
    for (long k = 0; k < calls; k++) {
        switch (draw(4)) {
        case 0: change(); break;
        case 1: look(); break;
        case 2: narrow(); break;
        default: objects(); break;
        }
    }
    for (int k = 0; k < OBJECTS; k++) {
        jostle_detector_free(detectors[k]);
        jostle_shape_free(shapes[k]);
    }
    for (int k = 0; k < 12; k++) printf("%s%ld", k ? " " : "codes: ", counts[k]);
    printf("\n");
    /* Done, argument, handle, box, id, batch, limit, shape, pose, buffer, threads. */
    for (int k = 0; k <= 10; k++) {
        if (calls >= 20000 && counts[k] == 0) {
            fprintf(stderr, "code %d never came\n", k);
            return 1;
        }
    }
    return 0;
}
