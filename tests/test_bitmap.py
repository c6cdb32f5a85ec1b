"""Floor plans: the dark pixels of a picture become few boxes, exactly those and none twice."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from robonet.errors import UserError
from robonet.scenario import bitmap
from robonet.scenario.bitmap import boxes, occupied_cells, rectangles


@st.composite
def plans(draw):
    """Noise of any density, or rectangles over and out of each other, as in real plans."""
    rows, columns = draw(st.integers(1, 24)), draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        return rng.random((rows, columns)) < draw(st.floats(0, 1))
    cells = np.zeros((rows, columns), bool)
    for number in range(draw(st.integers(0, 8))):
        y, x = rng.integers(0, rows), rng.integers(0, columns)
        cells[y : y + rng.integers(1, rows + 1), x : x + rng.integers(1, columns + 1)] = number % 3 != 2
    return cells


def covered(found, shape):
    counts = np.zeros(shape, int)
    for x, y, width, height in found:
        assert width > 0 and height > 0
        counts[y : y + height, x : x + width] += 1
    return counts


def merged_runs(cells):
    """Rectangles that come of joining equal runs of neighbouring rows."""
    before, count = set(), 0
    for row in cells:
        steps = np.diff(np.concatenate([[0], row.astype(int), [0]]))
        now = set(zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True))
        count, before = count + len(now - before), now
    return count


@given(plans())
@settings(max_examples=300)
def test_each_dark_cell_is_covered_once_and_no_other(cells):
    found = rectangles(cells)
    assert np.array_equal(covered(found, cells.shape), cells.astype(int))
    assert len(found) <= min(merged_runs(cells), merged_runs(cells.T))


def test_the_fewest_for_shapes_where_they_are_known():
    def count(*rows):
        return len(rectangles(np.array([[sign == "#" for sign in row] for row in rows])))

    assert count("###", "###") == 1
    assert count("#..", "#..", "###") == 2
    assert count(".#.", "###", ".#.") == 3
    assert count("###", "#.#", "###") == 4
    assert count("#.", ".#") == 2
    assert count("###.", "####", "###.") == 2
    assert count(".##.", "####", "####", ".##.") == 3
    assert count(".#.#.", ".#.#.", "#####", ".#.#.") == 5


def test_large_pictures_are_quick():
    rng = np.random.default_rng(3)
    noise = rng.random((1000, 1000)) < 0.6
    rooms = np.zeros((1000, 1000), bool)
    rooms[::50] = rooms[:, ::40] = True
    rooms[rng.integers(0, 1000, 300), rng.integers(0, 1000, 300)] ^= True
    for cells in (noise, rooms):
        began = time.process_time()
        found = rectangles(cells)
        assert time.process_time() - began < 2
        assert found[:, 2:].prod(axis=1).sum() == cells.sum()


def save(path, pixels, mode=None):
    Image.fromarray(np.array(pixels), mode).save(path)
    return path


def test_rows_count_from_the_bottom_and_dark_is_solid(tmp_path):
    path = save(tmp_path / "a.png", np.array([[0, 255, 255], [127, 128, 255]], np.uint8))
    assert occupied_cells(path, 0.5).tolist() == [[True, False, False], [True, False, False]]
    assert occupied_cells(path, 0.1).tolist() == [[False, False, False], [True, False, False]]


def test_transparent_pixels_are_free(tmp_path):
    black, clear = (0, 0, 0, 255), (0, 0, 0, 0)
    path = save(tmp_path / "a.png", np.array([[black, clear]], np.uint8))
    assert occupied_cells(path).tolist() == [[True, False]]


def test_sixteen_bits_and_two_colours(tmp_path):
    deep = save(tmp_path / "deep.png", np.array([[1000, 60000]], np.uint16))
    assert occupied_cells(deep).tolist() == [[True, False]]
    Image.fromarray(np.array([[0, 255]], np.uint8)).convert("1").save(tmp_path / "flat.pbm")
    assert occupied_cells(tmp_path / "flat.pbm").tolist() == [[True, False]]


def test_boxes_lie_where_the_picture_is_spread(tmp_path):
    path = save(tmp_path / "a.png", np.array([[255, 255, 0, 0], [0, 255, 255, 255]], np.uint8))
    assert boxes(path, (8.0, 2.0), (10.0, 5.0)) == [(7.0, 4.5, 2.0, 1.0), (12.0, 5.5, 4.0, 1.0)]


def test_what_is_no_floor_plan_is_refused_by_name(tmp_path, monkeypatch):
    def complaint(path):
        with pytest.raises(UserError) as caught:
            boxes(path, (1.0, 1.0))
        return str(caught.value)

    assert complaint(tmp_path / "none.png") == f"there is no file {tmp_path / 'none.png'}"
    assert "is a folder" in complaint(tmp_path)
    (tmp_path / "text.png").write_text("not a picture")
    assert "text.png: cannot be read as a picture" in complaint(tmp_path / "text.png")
    white = save(tmp_path / "white.png", np.full((3, 3), 255, np.uint8))
    assert "white.png: nothing in the picture is darker" in complaint(white)
    whole = save(tmp_path / "cut.png", np.random.default_rng(1).integers(0, 255, (64, 64), np.uint8)).read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    assert "cut.png: cannot be read as a picture" in complaint(tmp_path / "cut.png")
    monkeypatch.setattr(bitmap, "LARGEST_PIXELS", 8)
    assert "white.png: the picture has 3 x 3 pixels, more than 8" in complaint(white)
    monkeypatch.setattr(bitmap, "LARGEST_PIXELS", 100)
    monkeypatch.setattr(bitmap, "LARGEST_BOXES", 1)
    dots = save(tmp_path / "dots.png", np.array([[0, 255, 0]], np.uint8))
    assert "dots.png: the picture takes 2 boxes, more than 1" in complaint(dots)


def test_a_picture_that_would_unpack_to_gigabytes_is_refused_unread(tmp_path):
    Image.new("1", (20_000, 20_000), 1).save(tmp_path / "bomb.png")
    with pytest.raises(UserError, match="bomb.png: the picture has"):
        occupied_cells(tmp_path / "bomb.png")
