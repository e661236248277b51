// Balls in a box, in C++: the same bytes from every algorithm. It checks what it shows.
//
//   c++ -std=c++17 example.cpp -ljostle && ./a.out
#include <jostle.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void expect(bool holds, const char *what) {
    if (!holds) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::exit(1);
    }
}

struct Random {
    std::uint32_t state = 12345;
    float next() {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / 16777216.0f;
    }
};

jostle_aabb around(const jostle::Point &at, float radius) {
    jostle_aabb box{};
    for (std::size_t k = 0; k < 3; ++k) {
        box.min[k] = at[k] - radius;
        box.max[k] = at[k] + radius;
    }
    return box;
}

std::size_t play(const char *algorithm, std::uint64_t &fingerprint) {
    Random random;
    std::vector<jostle::Point> at(3000), speed(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            at[k][axis] = random.next() * 20;
            speed[k][axis] = random.next() - 0.5f;
        }
    }
    std::vector<jostle_aabb> boxes(at.size());
    auto place = [&] {
        for (std::size_t k = 0; k < at.size(); ++k) {
            boxes[k] = around(at[k], 0.4f);
        }
    };
    place();
    jostle::Detector detector(algorithm);
    detector.insert(boxes);
    std::size_t events = 0;
    fingerprint = 0;
    for (int step = 0; step < 10; ++step) {
        jostle::Events found = detector.step();
        for (const jostle_pair &pair : found.began) {
            fingerprint = (fingerprint ^ (std::uint64_t(pair.a) << 32 | pair.b)) * 1099511628211u;
        }
        events += found.began.size() + found.ended.size();
        for (std::size_t k = 0; k < at.size(); ++k) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                at[k][axis] += speed[k][axis] * 0.2f;
            }
        }
        place();
        detector.set_all(boxes);
    }
    auto again = jostle::overlaps(boxes);
    detector.step();
    expect(again.size() == detector.pairs().size(), "one call finds what the steps found");
    return events;
}

} // namespace

int main() {
    std::uint64_t first = 0, other = 0;
    std::size_t events = play("auto", first);
    std::printf("%zu events in ten steps\n", events);
    expect(events > 1000, "balls meet");
    for (const char *name : {"bvh", "sap", "grid-sweep"}) {
        expect(play(name, other) == events && other == first, "the same events from every one");
    }

    jostle::Detector detector;
    auto ids = detector.insert(std::vector<jostle_aabb>{around({0, 0, 0}, 1), around({5, 0, 0}, 1)});
    auto copy = detector.clone();
    detector.remove(std::vector<std::uint64_t>{ids[0]});
    expect(detector.size() == 1 && copy.size() == 2, "a copy lives on its own");
    std::vector<jostle_cast> rays{jostle::ray({-4, 0, 0}, {1, 0, 0})};
    auto found = copy.hits(rays);
    expect(found.ids(0).size() == 2 && found.values(0)[0] == 3.0, "the ray meets both");
    copy.step();
    std::printf("auto says: %s\n", copy.reason().c_str());
    try {
        detector.set(ids[0], around({0, 0, 0}, 1));
        expect(false, "a removed box cannot be moved");
    } catch (const jostle::Error &error) {
        expect(error.status() == JOSTLE_BAD_ID, error.what());
        std::printf("refused: %s\n", error.what());
    }

    auto ball = jostle::Shape::sphere(1);
    auto cube = jostle::Shape::cuboid(1, 1, 1);
    std::vector<jostle::Point64> corners;
    for (int k = 0; k < 8; ++k) {
        corners.push_back({double(k & 1), double(k >> 1 & 1), double(k >> 2 & 1)});
    }
    auto hull = jostle::Shape::hull(corners);
    expect(jostle::distance(ball.at(0, 0, 0), cube.at(5, 0, 0)) == 3, "a ball and a cube");
    expect(jostle::contact(ball.at(0, 0, 0), cube.at(1.5, 0, 0)).depth == 0.5, "how deep");
    expect(jostle::distance(hull.at(0, 0, 0), hull.at(3, 0, 0)) == 2, "two hulls");
    return 0;
}
