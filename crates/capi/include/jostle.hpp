// jostle.hpp: jostle.h for C++17 and later, with objects that free themselves, spans and
// exceptions. Header-only; link with libjostle.
//
//   jostle::Detector detector;
//   auto ids = detector.insert(boxes);
//   for (jostle_pair pair : detector.step().began) …
//
// Everything throws jostle::Error if the library refuses; then nothing has changed. Spans that are
// returned belong to the object they come from, as the comments in jostle.h say.
#ifndef JOSTLE_HPP
#define JOSTLE_HPP

#include "jostle.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#if defined(__cplusplus) && __cplusplus >= 202002L
#include <span>
#endif

namespace jostle {

static_assert(sizeof(jostle_aabb) == 24, "six floats");
static_assert(sizeof(std::array<float, 3>) == sizeof(float[3]), "no padding");

#if defined(__cplusplus) && __cplusplus >= 202002L
template <class T>
using Span = std::span<T>;
#else
/// A stretch of somebody's array.
template <class T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class Container,
              class = decltype(static_cast<T *>(std::declval<Container &>().data()))>
    constexpr Span(Container &&items) noexcept : data_(items.data()), size_(items.size()) {}
    template <std::size_t N>
    constexpr Span(T (&items)[N]) noexcept : data_(items), size_(N) {}
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return size_ == 0 ? data_ : data_ + size_; }
    constexpr T &operator[](std::size_t index) const { return data_[index]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/// Why the library refused.
class Error : public std::runtime_error {
public:
    explicit Error(jostle_status status)
        : std::runtime_error(jostle_last_error()), status_(status) {}
    jostle_status status() const noexcept { return status_; }

private:
    jostle_status status_;
};

/// Throws unless the call is done.
inline void check(jostle_status status) {
    if (status != JOSTLE_OK) {
        throw Error(status);
    }
}

using Point = std::array<float, 3>;
using Point64 = std::array<double, 3>;

/// Pairs that belong to the caller.
class Pairs {
public:
    Pairs() = default;
    explicit Pairs(jostle_pair_list list) noexcept : list_(list) {}
    Pairs(Pairs &&other) noexcept : list_(std::exchange(other.list_, jostle_pair_list{})) {}
    Pairs &operator=(Pairs &&other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    Pairs(const Pairs &) = delete;
    Pairs &operator=(const Pairs &) = delete;
    ~Pairs() { jostle_pair_list_free(&list_); }

    Span<const jostle_pair> get() const noexcept { return {list_.pairs, list_.count}; }
    std::size_t size() const noexcept { return list_.count; }
    const jostle_pair *begin() const noexcept { return list_.pairs; }
    const jostle_pair *end() const noexcept { return get().data() + list_.count; }
    const jostle_pair &operator[](std::size_t index) const { return list_.pairs[index]; }

private:
    jostle_pair_list list_{};
};

/// Every overlapping pair of some boxes.
inline Pairs overlaps(Span<const jostle_aabb> boxes, std::uint32_t threads = 1) {
    jostle_pair_list list{};
    check(jostle_overlaps(boxes.data(), boxes.size(), threads, &list));
    return Pairs(list);
}

/// Every overlap of a box of one list with a box of another.
inline Pairs overlaps_between(Span<const jostle_aabb> first, Span<const jostle_aabb> second,
                              std::uint32_t threads = 1) {
    jostle_pair_list list{};
    check(jostle_overlaps_between(first.data(), first.size(), second.data(), second.size(),
                                  threads, &list));
    return Pairs(list);
}

/// What a batch of queries found.
class Found {
public:
    explicit Found(jostle_found found) noexcept : found_(found) {}
    Found(Found &&other) noexcept : found_(std::exchange(other.found_, jostle_found{})) {}
    Found &operator=(Found &&other) noexcept {
        std::swap(found_, other.found_);
        return *this;
    }
    Found(const Found &) = delete;
    Found &operator=(const Found &) = delete;
    ~Found() { jostle_found_free(&found_); }

    /// How many queries there were.
    std::size_t size() const noexcept { return found_.queries; }
    /// The boxes that a query found.
    Span<const std::uint64_t> ids(std::size_t query) const {
        return {found_.ids + found_.offsets[query], length(query)};
    }
    /// The distances or times of a query; none if the question has none.
    Span<const double> values(std::size_t query) const {
        if (found_.values == nullptr) {
            return {};
        }
        return {found_.values + found_.offsets[query], length(query)};
    }

private:
    std::size_t length(std::size_t query) const {
        return found_.offsets[query + 1] - found_.offsets[query];
    }
    jostle_found found_;
};

/// What began and what ended in a step; until the next step of the detector.
struct Events {
    Span<const jostle_pair> began;
    Span<const jostle_pair> ended;
};

/// An endless ray from a point.
inline jostle_cast ray(Point origin, Point direction,
                       float limit = std::numeric_limits<float>::infinity()) {
    jostle_cast cast{};
    for (std::size_t k = 0; k < 3; ++k) {
        cast.start.min[k] = cast.start.max[k] = origin[k];
        cast.direction[k] = direction[k];
    }
    cast.limit = limit;
    return cast;
}

/// Follows moving boxes and tells which pairs begin and cease to overlap.
class Detector {
public:
    explicit Detector(const char *algorithm = nullptr, std::uint32_t threads = 1,
                      std::uint64_t pair_limit = 0) {
        jostle_detector_options options{};
        options.algorithm = algorithm;
        options.threads = threads;
        options.pair_limit = pair_limit;
        check(jostle_detector_new(&options, &handle_));
    }
    Detector(Detector &&other) noexcept
        : handle_(std::exchange(other.handle_, jostle_detector{})) {}
    Detector &operator=(Detector &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Detector(const Detector &) = delete;
    Detector &operator=(const Detector &) = delete;
    ~Detector() {
        if (handle_.handle != 0) {
            jostle_detector_free(handle_);
        }
    }

    /// A detector that continues as this one would.
    Detector clone() const {
        jostle_detector copy{};
        check(jostle_detector_clone(handle_, &copy));
        return Detector(copy);
    }

    std::vector<std::uint64_t> insert(Span<const jostle_aabb> boxes,
                                      Span<const jostle_filter> filters = {}) {
        std::vector<std::uint64_t> ids(boxes.size());
        check(jostle_detector_insert(handle_, boxes.data(), boxes.size(), filters.data(),
                                     filters.size(), ids.data()));
        return ids;
    }
    std::uint64_t insert(const jostle_aabb &box, jostle_filter filter = jostle_filter_all()) {
        std::uint64_t id = JOSTLE_NO_ID;
        check(jostle_detector_insert(handle_, &box, 1, &filter, 1, &id));
        return id;
    }
    void set(std::uint64_t id, const jostle_aabb &box) {
        check(jostle_detector_set(handle_, &id, &box, 1));
    }
    void set(Span<const std::uint64_t> ids, Span<const jostle_aabb> boxes) {
        same_length(ids.size(), boxes.size());
        check(jostle_detector_set(handle_, ids.data(), boxes.data(), ids.size()));
    }
    void set_all(Span<const jostle_aabb> boxes) {
        check(jostle_detector_set_all(handle_, boxes.data(), boxes.size()));
    }
    void remove(Span<const std::uint64_t> ids) {
        check(jostle_detector_remove(handle_, ids.data(), ids.size()));
    }
    void set_filter(Span<const std::uint64_t> ids, jostle_filter filter) {
        check(jostle_detector_set_filter(handle_, ids.data(), ids.size(), filter));
    }
    void exclude(std::uint64_t one, std::uint64_t other, bool excluded = true) {
        check(jostle_detector_exclude(handle_, one, other, excluded ? 1 : 0));
    }
    void set_algorithm(const char *name) { check(jostle_detector_set_algorithm(handle_, name)); }

    Events step() {
        jostle_events events{};
        check(jostle_detector_step(handle_, &events));
        return {{events.began, events.began_count}, {events.ended, events.ended_count}};
    }
    /// Every overlapping pair after the last step; until the next one.
    Span<const jostle_pair> pairs() const {
        const jostle_pair *pairs = nullptr;
        std::size_t count = 0;
        check(jostle_detector_pairs(handle_, &pairs, &count));
        return {pairs, count};
    }
    std::size_t size() const {
        std::size_t count = 0;
        check(jostle_detector_count(handle_, &count));
        return count;
    }
    std::uint64_t id_at(std::uint32_t slot) const {
        std::uint64_t id = JOSTLE_NO_ID;
        check(jostle_detector_id_at(handle_, slot, &id));
        return id;
    }
    std::string reason() const {
        std::size_t length = 0;
        jostle_status status = jostle_detector_reason(handle_, nullptr, 0, &length);
        if (status != JOSTLE_BUFFER_TOO_SMALL) {
            check(status);
        }
        std::string text(length, '\0');
        check(jostle_detector_reason(handle_, &text[0], text.size(), &length));
        text.resize(length - 1);
        return text;
    }

    Found overlapping(Span<const jostle_aabb> boxes, const jostle_filter *filter = nullptr) const {
        jostle_found found{};
        check(jostle_detector_overlapping(handle_, boxes.data(), boxes.size(), filter, &found));
        return Found(found);
    }
    Found within(Span<const Point> points, float radius,
                 const jostle_filter *filter = nullptr) const {
        jostle_found found{};
        check(jostle_detector_within(handle_, raw(points), points.size(), radius, filter, &found));
        return Found(found);
    }
    Found nearest(Span<const Point> points, std::size_t count,
                  const jostle_filter *filter = nullptr) const {
        jostle_found found{};
        check(jostle_detector_nearest(handle_, raw(points), points.size(), count, filter, &found));
        return Found(found);
    }
    Found hits(Span<const jostle_cast> casts, const jostle_filter *filter = nullptr) const {
        jostle_found found{};
        check(jostle_detector_hits(handle_, casts.data(), casts.size(), filter, &found));
        return Found(found);
    }

    jostle_detector handle() const noexcept { return handle_; }

private:
    explicit Detector(jostle_detector handle) noexcept : handle_(handle) {}
    static void same_length(std::size_t ids, std::size_t boxes) {
        if (ids != boxes) {
            throw std::invalid_argument("give one box for each id");
        }
    }
    static const float *raw(Span<const Point> points) {
        return points.empty() ? nullptr : points.data()->data();
    }
    jostle_detector handle_{};
};

/// A shape; see jostle_shape.
class Shape {
public:
    static Shape sphere(double radius) {
        return made([&](jostle_shape *out) { return jostle_shape_sphere(radius, out); });
    }
    static Shape cuboid(double x, double y, double z) {
        return made([&](jostle_shape *out) { return jostle_shape_cuboid(x, y, z, out); });
    }
    static Shape capsule(double radius, double half_height) {
        return made(
            [&](jostle_shape *out) { return jostle_shape_capsule(radius, half_height, out); });
    }
    static Shape cylinder(double radius, double half_height) {
        return made(
            [&](jostle_shape *out) { return jostle_shape_cylinder(radius, half_height, out); });
    }
    static Shape cone(double radius, double half_height) {
        return made(
            [&](jostle_shape *out) { return jostle_shape_cone(radius, half_height, out); });
    }
    static Shape ellipsoid(double x, double y, double z) {
        return made([&](jostle_shape *out) { return jostle_shape_ellipsoid(x, y, z, out); });
    }
    static Shape half_space(Point64 normal, double offset) {
        return made([&](jostle_shape *out) {
            return jostle_shape_half_space(normal[0], normal[1], normal[2], offset, out);
        });
    }
    static Shape hull(Span<const Point64> points) {
        return made([&](jostle_shape *out) {
            const double *numbers = points.empty() ? nullptr : points.data()->data();
            return jostle_shape_hull(numbers, points.size(), out);
        });
    }
    Shape(Shape &&other) noexcept : handle_(std::exchange(other.handle_, jostle_shape{})) {}
    Shape &operator=(Shape &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Shape(const Shape &) = delete;
    Shape &operator=(const Shape &) = delete;
    ~Shape() {
        if (handle_.handle != 0) {
            jostle_shape_free(handle_);
        }
    }

    /// The shape at a place.
    jostle_placed at(double x, double y, double z) const {
        jostle_placed placed{handle_, jostle_pose_identity()};
        placed.pose.translation[0] = x;
        placed.pose.translation[1] = y;
        placed.pose.translation[2] = z;
        return placed;
    }
    jostle_placed at(const jostle_pose &pose) const { return {handle_, pose}; }
    jostle_aabb bounds(const jostle_pose &pose) const {
        jostle_aabb box{};
        check(jostle_shape_bounds(handle_, pose, &box));
        return box;
    }
    jostle_shape handle() const noexcept { return handle_; }

private:
    template <class Make>
    static Shape made(Make make) {
        Shape shape;
        check(make(&shape.handle_));
        return shape;
    }
    Shape() = default;
    jostle_shape handle_{};
};

/// How two shapes are to each other.
inline jostle_contact contact(const jostle_placed &a, const jostle_placed &b, double margin = 0) {
    jostle_contact found{};
    check(jostle_contacts(&a, &b, 1, margin, &found));
    return found;
}

/// How far two shapes are apart, 0 if they touch or overlap.
inline double distance(const jostle_placed &a, const jostle_placed &b, double margin = 0) {
    double found = 0;
    check(jostle_distances(&a, &b, 1, margin, &found));
    return found;
}

} // namespace jostle

#endif
