/* Boxes that move, queries and shapes, in C. It checks what it shows.
 *
 *   cc example.c -ljostle && ./a.out
 */
#include <jostle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void done(jostle_status status, const char *what) {
    if (status != JOSTLE_OK) {
        fprintf(stderr, "%s: %s\n", what, jostle_last_error());
        exit(1);
    }
}

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        exit(1);
    }
}

static jostle_aabb unit_box(float x) {
    jostle_aabb box = {{x, 0, 0}, {x + 1, 1, 1}};
    return box;
}

static void one_shot(void) {
    jostle_aabb boxes[3] = {unit_box(0), unit_box(1), unit_box(5)};
    jostle_pair_list list;
    done(jostle_overlaps(boxes, 3, 1, &list), "overlaps");
    printf("%zu of 3 boxes touch: %u and %u\n", list.count, list.pairs[0].a, list.pairs[0].b);
    expect(list.count == 1 && list.pairs[0].a == 0 && list.pairs[0].b == 1, "touching counts");
    done(jostle_pair_list_free(&list), "free");
    done(jostle_pair_list_free(&list), "an empty list may be freed again");

    done(jostle_overlaps_between(boxes, 2, boxes, 3, 1, &list), "between");
    expect(list.count == 4, "two boxes against three");
    done(jostle_pair_list_free(&list), "free");
}

static void moving(void) {
    jostle_detector detector;
    jostle_detector_options options = {"auto", 1, 0};
    done(jostle_detector_new(&options, &detector), "new");

    jostle_aabb boxes[2] = {unit_box(0), unit_box(5)};
    jostle_filter filters[2] = {jostle_filter_all(), jostle_filter_all()};
    uint64_t ids[2];
    filters[1].still = 1;
    done(jostle_detector_insert(detector, boxes, 2, filters, 2, ids), "insert");
    jostle_events events;
    done(jostle_detector_step(detector, &events), "step");
    expect(events.began_count == 0, "they are apart");

    boxes[0] = unit_box(4);
    done(jostle_detector_set(detector, ids, boxes, 1), "set");
    done(jostle_detector_step(detector, &events), "step");
    expect(events.began_count == 1 && events.began[0].b == JOSTLE_SLOT(ids[1]), "they touch");
    printf("box %u begins to touch box %u\n", events.began[0].a, events.began[0].b);

    /* A box that is none is refused by its name, and nothing changes. */
    jostle_aabb bad = {{0, NAN, 0}, {1, 1, 1}};
    expect(jostle_detector_set(detector, ids, &bad, 1) == JOSTLE_BAD_BOX, "NaN is refused");
    printf("refused: %s\n", jostle_last_error());

    float point[3] = {9, 0, 0};
    jostle_found found;
    done(jostle_detector_nearest(detector, point, 1, 1, NULL, &found), "nearest");
    expect(found.count == 1 && found.ids[0] == ids[1] && found.values[0] == 3.0, "nearest");
    done(jostle_found_free(&found), "free");

    jostle_cast ray = {{{-1, 0.5f, 0.5f}, {-1, 0.5f, 0.5f}}, {1, 0, 0}, INFINITY};
    uint64_t hit;
    double time;
    done(jostle_detector_first_hits(detector, &ray, 1, NULL, &hit, &time), "ray");
    expect(hit == ids[0] && time == 5.0, "the ray meets the ball first");

    done(jostle_detector_remove(detector, ids, 1), "remove");
    done(jostle_detector_step(detector, &events), "step");
    expect(events.ended_count == 1, "each pair that began ends");
    expect(jostle_detector_set(detector, ids, boxes, 1) == JOSTLE_BAD_ID, "its id is gone");
    done(jostle_detector_free(detector), "free");
    expect(jostle_detector_free(detector) == JOSTLE_BAD_HANDLE, "freeing twice is refused");
    expect(jostle_detector_step(detector, NULL) == JOSTLE_BAD_HANDLE, "so is use after it");
}

static void shapes(void) {
    jostle_shape ball, cube;
    done(jostle_shape_sphere(1, &ball), "sphere");
    done(jostle_shape_cuboid(1, 1, 1, &cube), "cuboid");
    jostle_placed a = {ball, jostle_pose_identity()}, b = {cube, jostle_pose_identity()};
    b.pose.translation[0] = 1.5;
    jostle_contact contact;
    done(jostle_contacts(&a, &b, 1, 0, &contact), "contact");
    printf("ball and cube overlap by %g along (%g, %g, %g)\n", contact.depth, contact.normal[0],
           fabs(contact.normal[1]), fabs(contact.normal[2]));
    expect(contact.depth == 0.5 && contact.normal[0] == 1, "depth and normal");

    jostle_motion still = {{0, 0, 0}, {0, 0, 0}}, fast = {{8, 0, 0}, {0, 0, 0}};
    jostle_impact impact;
    b.pose.translation[0] = 6;
    done(jostle_impacts(&a, &b, &fast, &still, 1, 1, &impact), "impact");
    expect(impact.status == 1 && fabs(impact.time - 0.5) < 1e-6, "they meet half way");
    expect(jostle_shape_sphere(-1, &ball) == JOSTLE_BAD_SHAPE, "no ball is smaller than nothing");
    done(jostle_shape_free(a.shape), "free");
    expect(jostle_contacts(&a, &b, 1, 0, &contact) == JOSTLE_BAD_HANDLE, "the ball is gone");
    done(jostle_shape_free(cube), "free");
}

int main(void) {
    expect(jostle_abi_version() == JOSTLE_ABI_VERSION, "header and library fit");
    printf("libjostle %s\n", jostle_version());
    one_shot();
    moving();
    shapes();
    return 0;
}
