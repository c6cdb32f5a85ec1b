"""Pictures of floor plans: the dark pixels of a bitmap become few boxes.

The dark area is cut into rectangles along its concave corners. Every concave corner needs a cut; a chord, which is a
straight cut from one concave corner to another, serves two at once. So the fewest rectangles come of the most chords
that do not touch each other: chords along x and along y make a bipartite graph of who touches whom, and the largest
independent set of it is searched for, those that touch fewest first (exact where the graph is a forest).
"""

import heapq
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.errors import UserError

LARGEST_PIXELS = 16_000_000
LARGEST_BOXES = 100_000
MOST_PAIRS = 150_000
"""Up to so many pairs of chords that touch, the best choice among them is searched for."""
FORMATS = ("PNG", "BMP", "GIF", "JPEG", "PPM", "TIFF", "WEBP")
"""What is read; others that Pillow knows run programs (EPS) or have no pixels."""

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def occupied_cells(path: Path, threshold: float = 0.5) -> Bools:
    """Which pixels are darker than the threshold (0 black, 1 white) and not transparent; rows from the bottom."""
    brightness, alpha = pixels(path)
    cells: Bools = (brightness < threshold) & (alpha >= 0.5)
    if not cells.any():
        raise UserError(f"{path}: nothing in the picture is darker than the threshold {threshold:g}")
    return np.ascontiguousarray(cells[::-1])


def rectangles(cells: Bools) -> Ints:
    """Rectangles (column, row, width, height) that cover the true cells exactly and do not overlap, in row order."""
    rows, columns = cells.shape
    padded = np.zeros((rows + 2, columns + 2), np.bool_)
    padded[1:-1, 1:-1] = cells
    below_left, below_right = padded[:-1, :-1], padded[:-1, 1:]
    above_left, above_right = padded[1:, :-1], padded[1:, 1:]
    # Corners have the numbers of the cell above and to the right of them; an edge along x that of its left corner.
    concave = (below_left.view(np.int8) + below_right + above_left + above_right) == 3
    inside_x = below_right & above_right
    inside_y = above_left & above_right
    along_x = _chords(concave, inside_x)
    along_y = _chords(concave.T, inside_y.T)
    chosen_x, chosen_y = _independent(along_x, along_y, concave.shape)

    cut_x, cut_y = np.zeros_like(inside_x), np.zeros_like(inside_y)
    _draw(cut_x, along_x, chosen_x)
    _draw(cut_y.T, along_y, chosen_y)
    served = np.zeros_like(concave)
    _mark_ends(served, along_x, chosen_x)
    _mark_ends(served.T, along_y, chosen_y)
    cut_x |= _cuts_from(concave & ~served, inside_x, cut_y)

    edge_x, edge_y = (cut_x | ~inside_x)[:-1, :-1], (cut_y | ~inside_y)[:-1, :-1]
    row, column = np.nonzero(cells & edge_x & edge_y)
    right = _next_true((cut_y | ~inside_y)[:-1], row, column + 1)
    top = _next_true((cut_x | ~inside_x)[:, :-1].T, column, row + 1)
    return np.stack([column, row, right - column, top - row], axis=1).astype(np.int64)


def boxes(
    path: Path, size_m: tuple[float, float], center_m: tuple[float, float] = (0.0, 0.0), threshold: float = 0.5
) -> list[tuple[float, float, float, float]]:
    """Boxes (centre x, centre y, size x, size y) in metres for a picture that is spread over the given area."""
    cells = occupied_cells(path, threshold)
    found = rectangles(cells)
    if len(found) > LARGEST_BOXES:
        text = f"takes {len(found):,} boxes, more than {LARGEST_BOXES:,}: draw walls in plain black on white"
        raise UserError(f"{path}: the picture {text}")
    scale = np.array(size_m) / (cells.shape[1], cells.shape[0])
    size = found[:, 2:] * scale
    middle = found[:, :2] * scale + size / 2 + np.array(center_m) - np.array(size_m) / 2
    return [(float(x), float(y), float(w), float(h)) for (x, y), (w, h) in zip(middle, size, strict=True)]


# --- pixels ----------------------------------------------------------------------------------------------


def pixels(path: Path) -> tuple[Any, Any]:
    """Brightness and opacity from 0 to 1, rows from the top."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as image:
                width, height = image.size
                if width * height > LARGEST_PIXELS:
                    text = f"the picture has {width} x {height} pixels, more than {LARGEST_PIXELS:,}: make it smaller"
                    raise UserError(f"{path}: {text}")
                return _channels(image)
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UserError(f"{path}: the picture has more than {LARGEST_PIXELS:,} pixels: make it smaller") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder, not a picture") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error, OverflowError) as error:
        raise UserError(f"{path}: cannot be read as a picture (of {', '.join(FORMATS)}): {error}") from error


def _channels(image: Any) -> tuple[Any, Any]:
    if image.mode[0] in "IF":  # more than 8 bits: Pillow would cut them off, not scale them
        raw = np.asarray(image, np.float64)
        top = 65535.0 if image.mode[0] == "I" else max(1.0, float(raw.max(initial=0.0)))
        return raw / top, np.ones(raw.shape)
    both = np.asarray(image.convert("RGBA").convert("LA"), np.float32) / np.float32(255.0)
    return both[..., 0], both[..., 1]


# --- cuts ------------------------------------------------------------------------------------------------


class _Chords(NamedTuple):
    """Cuts along one direction between two concave corners, each inside of the dark area."""

    line: Ints
    first: Ints
    last: Ints


def _chords(concave: Bools, inside: Bools) -> _Chords:
    """All chords along the second axis: neighbours on one line with nothing but inner edges between them."""
    line, at = np.nonzero(concave)
    if len(line) < 2:
        none = np.zeros(0, np.int64)
        return _Chords(none, none, none)
    width = inside.shape[1]
    before = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])
    start, end = line[:-1] * width + at[:-1], line[1:] * width + at[1:]
    joined = (line[:-1] == line[1:]) & (before[end] - before[start] == at[1:] - at[:-1])
    return _Chords(line[:-1][joined], at[:-1][joined], at[1:][joined])


def _points_of(chords: _Chords, picked: Any, *, with_last: bool) -> tuple[Ints, Ints, Ints]:
    """Number of the chord, line and place of every corner on the picked chords."""
    numbers = np.flatnonzero(picked)
    lengths = chords.last[numbers] - chords.first[numbers] + with_last
    owner = np.repeat(numbers, lengths)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return owner, chords.line[owner], chords.first[owner] + step


def _independent(along_x: _Chords, along_y: _Chords, shape: tuple[int, ...]) -> tuple[Bools, Bools]:
    """As many chords as can be found of which no two touch."""
    count_x, count_y = len(along_x.line), len(along_y.line)
    owner_x, row, column = _points_of(along_x, np.ones(count_x, np.bool_), with_last=True)
    at = np.full(shape, -1, np.int32)
    at[row, column] = owner_x
    owner_y, column, row = _points_of(along_y, np.ones(count_y, np.bool_), with_last=True)
    met = at[row, column]
    pairs = np.stack([met[met >= 0], owner_y[met >= 0] + count_x], axis=1).astype(np.int64)
    chosen = np.ones(count_x + count_y, np.bool_)
    chosen[pairs.ravel()] = False
    if len(pairs) > MOST_PAIRS:  # noise, not a map: all along one direction do not touch each other either
        chosen[:count_x] |= count_x >= count_y
        chosen[count_x:] |= count_x < count_y
    else:
        chosen[_few_neighbours_first(pairs.tolist())] = True
    return chosen[:count_x], chosen[count_x:]


def _few_neighbours_first(pairs: list[list[int]]) -> list[int]:
    """An independent set of the graph with these edges: again and again the node with the fewest neighbours left."""
    neighbours: dict[int, set[int]] = {}
    for one, other in pairs:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    queue = [(len(near), number) for number, near in neighbours.items()]
    heapq.heapify(queue)
    chosen: list[int] = []
    while queue:
        degree, number = heapq.heappop(queue)
        if number not in neighbours or degree != len(neighbours[number]):
            continue
        chosen.append(number)
        for gone in sorted(neighbours.pop(number)):
            for left in neighbours.pop(gone):
                if left in neighbours:
                    neighbours[left].discard(gone)
                    heapq.heappush(queue, (len(neighbours[left]), left))
    return chosen


def _draw(cut: Bools, chords: _Chords, chosen: Bools) -> None:
    _, line, at = _points_of(chords, chosen, with_last=False)
    cut[line, at] = True


def _mark_ends(marks: Bools, chords: _Chords, chosen: Bools) -> None:
    marks[chords.line[chosen], chords.first[chosen]] = True
    marks[chords.line[chosen], chords.last[chosen]] = True


def _cuts_from(corners: Bools, inside_x: Bools, cut_y: Bools) -> Bools:
    """Cuts along x from each corner up to the border of the dark area or the next cut along y."""
    crossed = cut_y.copy()  # a corner on a cut along y: the edge above it or the one below it is cut
    crossed[1:] |= cut_y[:-1]
    begins = np.empty_like(inside_x)
    begins[:, 0] = True
    begins[:, 1:] = crossed[:, 1:] | (inside_x[:, 1:] != inside_x[:, :-1])
    stretch = np.cumsum(begins, dtype=np.int64).reshape(begins.shape)
    cut = np.zeros(int(stretch[-1, -1]) + 1, np.bool_)
    cut[stretch[corners & inside_x]] = True
    to_left = np.zeros_like(corners)
    to_left[:, :-1] = corners[:, 1:]
    cut[stretch[to_left & inside_x]] = True
    found: Bools = cut[stretch] & inside_x
    return found


def _next_true(marks: Bools, line: Ints, start: Ints) -> Ints:
    """For each line and start the place of the next mark from there on; there is one on every line."""
    width = marks.shape[1]
    places = np.flatnonzero(marks)
    found: Ints = places[np.searchsorted(places, line * width + start)] - line * width
    return found
