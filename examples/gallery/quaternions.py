"""
A fractal in space, by a kernel of your own
===========================================

A Julia set of quaternions has four dimensions; this is a slice of one in three. A ray for each pixel goes forward by the
distance that is surely free, which follows from the slope of the iteration (J. C. Hart, D. J. Sandin and L. H. Kauffman,
Computer Graphics 23, 1989). One shader does it all.
"""

import matplotlib.pyplot as plt

import vkarray as vx

SIZE, STEPS = 480, 90

march = vx.kernel(
    """
    layout(binding = 0) writeonly buffer Picture { float picture[]; };
    layout(push_constant) uniform Push { uint size; uint steps; };

    const vec4 c = vec4(-0.291, -0.399, 0.339, 0.437);

    float free(vec3 place) {
        vec4 z = vec4(place, 0.0);
        float slope = 1.0, square = dot(z, z);
        for (uint i = 0u; i < 11u && square < 16.0; ++i) {
            slope *= 2.0 * sqrt(square);
            z = vec4(z.x * z.x - dot(z.yzw, z.yzw), 2.0 * z.x * z.yzw) + c;
            square = dot(z, z);
        }
        return 0.25 * sqrt(square) * log(square) / slope;
    }

    void main() {
        uint pixel = gl_GlobalInvocationID.x;
        if (pixel >= size * size) return;
        vec2 at = (vec2(pixel % size, pixel / size) + 0.5) / float(size) * 2.0 - 1.0;
        vec3 ray = normalize(vec3(at.x, -at.y, -2.4)), place = vec3(0.0, 0.0, 3.2);
        float angle = 0.9;
        mat3 turn = mat3(cos(angle), 0.0, -sin(angle), 0.0, 1.0, 0.0, sin(angle), 0.0, cos(angle));
        float space = 1.0, way = 0.0;
        for (uint i = 0u; i < steps && space > 0.001 && way < 6.0; ++i) {
            space = free(turn * (place + way * ray));
            way += space;
        }
        vec3 hit = turn * (place + way * ray);
        vec2 e = vec2(0.002, 0.0);
        vec3 normal = normalize(vec3(free(hit + e.xyy), free(hit + e.yxy), free(hit + e.yyx)) - free(hit));
        float light = 0.25 + 0.75 * max(dot(normal, turn * normalize(vec3(-0.5, 0.8, 0.6))), 0.0);
        picture[pixel] = way < 6.0 ? light * (0.55 + 0.45 * normal.y * normal.y) : 0.0;
    }
    """,
    name="march",
    push_constants="II",
)

picture = vx.empty((SIZE, SIZE))
march(picture, push=(SIZE, STEPS), invocations=SIZE * SIZE)
plt.figimage(picture, cmap="bone", resize=True)
plt.savefig("quaternions.png")
