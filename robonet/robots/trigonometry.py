"""Sine and cosine by plain arithmetic: the same bits on every machine, and several times faster than a library call.

Polynomials of least error over an eighth of a turn, after taking off whole quarter turns. Errors stay below
2e-16 for the angles that bodies have.
"""

from robonet.kernels import bare_kernel

QUARTER, QUARTER_REST = 1.5707963267948966, 6.123233995736766e-17
"""A quarter turn, and what a double cannot hold of it."""
PER_QUARTER = 0.6366197723675814


@bare_kernel
def cosine_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle of a few turns at most."""
    quarters = int(angle * PER_QUARTER + (0.5 if angle >= 0.0 else -0.5))
    r = (angle - quarters * QUARTER) - quarters * QUARTER_REST
    z = r * r
    sine = r + r * z * (
        -1.66666666666666324348e-01
        + z * (8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04
        + z * (2.75573137070700676789e-06
        + z * (-2.50507602534068634195e-08
        + z * 1.58969099521155010221e-10))))
    )  # fmt: skip
    cosine = 1.0 - (0.5 * z - z * z * (
        4.16666666666666019037e-02
        + z * (-1.38888888888741095749e-03
        + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07
        + z * (2.08757232129817482790e-09
        + z * -1.13596475577881948265e-11))))
    ))  # fmt: skip
    turned = quarters & 3
    if turned == 0:
        return cosine, sine
    if turned == 1:
        return -sine, cosine
    if turned == 2:
        return -cosine, -sine
    return sine, -cosine
