"""Where bodies face, as unit vectors: computed once a step for all."""

from robonet.kernels import rows_kernel
from robonet.robots.trigonometry import cosine_sine
from robonet.space import Floats


@rows_kernel
def face(first: int, last: int, heading: Floats, facing: Floats) -> None:
    """Write cosine and sine of headings."""
    for i in range(first, last):
        facing[i, 0], facing[i, 1] = cosine_sine(heading[i])
