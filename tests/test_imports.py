"""Worlds of Stage: what maps becomes a scenario, all else is listed with its line."""

import math

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from robonet.errors import UserError
from robonet.imports import import_file, import_world
from robonet.imports.scenario_text import Names, common_stem
from robonet.scenario.schema import Scenario
from robonet.scenario.sections import as_tuples


def read(imported):
    """The scenario's data, which must be of the right types."""
    data = yaml.safe_load(imported.text)
    Scenario.model_validate(as_tuples(data))
    return data


def listed(imported):
    return [f"{one.line}: {one.what}: {one.why}" for one in imported.unmapped]


def complaint(importer, path):
    with pytest.raises(UserError) as caught:
        importer(path)
    return str(caught.value)


def damage(data, path, text):
    """Nothing but a good scenario or a `UserError` comes of a file with a piece cut out or put in."""
    start = data.draw(st.integers(0, len(text)))
    end = start + data.draw(st.integers(0, 40))
    piece = data.draw(
        st.sampled_from(["", "0", "-", "1e300", "(", ")", "[", '"', "<", ">", "/>", "nan", " x ", "\x00", "é"])
    )
    path.write_text(text[:start] + piece + text[end:])
    try:
        imported = import_file(path)
    except UserError as error:
        assert str(path.parent) in str(error)
    else:
        read(imported)


# --- Stage -----------------------------------------------------------------------------------------------

PARTS = """# things for the yard
define eye sensor ( range [0 2] samples 1 )
define ring ranger
(
  eye( pose [0 0 0 0] )
  eye( pose [0 0 0 90] )
)
define cart position
(
  size [0.4 0.2 0.3]
  drive "diff"
  mass 3
  ring()
)
"""

WORLD = """include "parts.inc"
name "yard"
interval_sim 50
quit_time 10.02
threads 2
speedup 4

model
(
  name "fence"
  size [8 4 1]
  pose [1 0 0 0]
  bitmap "fence.png"
  boundary 1
  color "brown"
)

cart( name "c0" pose [0 0 0 45] )
cart( name "c1" pose [2 1 0 -90] ctrl "wander" )

define scanner cart
(
  ranger( sensor( range [0.1 6] fov 270 samples 90 noise [0.04 0 0] ) )
  localization "odom"
  odom_error [0.1 0.1 0.1]
)
scanner( name "guard" pose [-1 0 0 0] drive "omni" velocity_bounds [-1 1.5 0 0 0 0 -90 90] )

model ( pose [0 1 0 90] size [1 0.5 1] )
model
(
  pose [2 -1 0 0]  size [2 1 1]
  block ( points 3  point[0] [0 0]  point[1] [4 0]  point[2] [0 2]  z [0 1] )
  model ( pose [0 0.5 0 0] size [0.2 0.2 1] )
)
model ( name "mark" pose [0 0 0 0] obstacle_return 0 ranger_return -1 )
model ( pose [3 1 0 0] size [0.1 0.1 0.2] gripper_return 1 mass 0.5 )
"""


@pytest.fixture
def yard(tmp_path):
    (tmp_path / "parts.inc").write_text(PARTS)
    pixels = np.full((4, 10), 255, np.uint8)
    pixels[:, 1] = pixels[:, 8] = 0  # one free column on either side: Stage stretches the dark part over the size
    Image.fromarray(pixels).save(tmp_path / "fence.png")
    (tmp_path / "yard.world").write_text(WORLD)
    return tmp_path / "yard.world"


def test_a_world_becomes_a_scenario(yard):
    data = read(import_world(yard))
    assert (data["name"], data["step_s"], data["duration_s"], data["threads"]) == ("yard", 0.05, 10.05, 2)
    arena = data["arena"]
    assert (arena["size_m"], arena["center_m"], arena["walls"]) == ([8, 4], [1, 0], True)
    assert arena["bitmap"] == {"file": "fence.png", "size_m": [10, 4], "center_m": [1, 0]}
    assert arena["obstacles"] == [
        {"box": {"center_m": [0, 1], "size_m": [1, 0.5], "angle_deg": 90}},
        {"polygon": {"corners_m": [[1, -1.5], [3, -1.5], [1, -0.5]]}},
        {"box": {"center_m": [2, -0.5], "size_m": [0.2, 0.2]}},
    ]
    assert data["objects"] == [
        {
            "name": "model",
            "box": {"size_m": [0.1, 0.1]},
            "height_m": 0.2,
            "mass_kg": 0.5,
            "movable": True,
            "count": 1,
            "place": {"poses": [[3, 1, 0]]},
        }
    ]


def test_robots_become_kinds_and_groups(yard):
    data = read(import_world(yard))
    cart, scanner = data["kinds"]
    assert cart == {
        "name": "cart",
        "body": {"box": {"size_m": [0.4, 0.2]}},
        "height_m": 0.3,
        "mass_kg": 3,
        "devices": {
            "wheels": {"wheel_distance_m": 0.2},
            "positioning": {},
            "sonar": {"angles_deg": [0, 90], "range_m": 2},
            "radio": {},
        },
    }
    assert scanner["devices"] == {
        "omni": {"max_speed_m_s": 1.5},
        "odometry": {},
        "sonar": {"angles_deg": [0, 90], "range_m": 2},
        "laser": {"beams": 90, "field_of_view_deg": 270, "range_m": 6, "noise": [{"gaussian": {"std": 0.2}}]},
        "radio": {},
    }
    assert data["robots"] == [
        {"name": "c", "kind": "cart", "count": 2, "place": {"poses": [[0, 0, 45], [2, 1, -90]]}},
        {"name": "guard", "kind": "scanner", "place": {"poses": [[-1, 0, 0]]}},
    ]


def test_what_does_not_map_is_listed_with_file_and_line(yard):
    imported = import_world(yard)
    found = listed(imported)
    for start in (
        "6: world: speedup 4: pace",
        '15: model: color "brown": only for display',
        '19: cart: ctrl "wander": a program for Stage',
        "23: sensor: range [0.1 6]: there is no least distance",
        "25: scanner: odom_error",
        "27: scanner: velocity_bounds [-1 1.5 0 0 0 0 -90 90]: only the forward limit",
        '36: model name "mark": neither solid nor seen',
    ):
        assert any(line.startswith(start) for line in found), start
        assert any(start in line for line in imported.text.splitlines() if line.startswith("#")), start
    assert all(one.file in (str(yard), str(yard.parent / "parts.inc")) for one in imported.unmapped)


def test_every_value_of_a_world_is_in_the_scenario_or_in_the_list(yard):
    """Words that mean nothing to anyone, put into every section, all come back."""
    head, *sections = WORLD.split("(")
    text = head + "".join(f"( strange{number} 7\n{section}" for number, section in enumerate(sections))
    yard.write_text(text)
    found = [one for one in import_world(yard).unmapped if one.file == str(yard)]
    marks = {line for one in found for line in (one.line, *one.also) if "strange" in one.what}
    lines = {number for number, line in enumerate(text.splitlines(), 1) if "strange" in line}
    mark = next(number for number, line in enumerate(text.splitlines(), 1) if "-1 )" in line)  # left as a whole
    assert lines - marks == {mark - 1}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('name "a', "a.world:1: a text does not end"),
        ("\npose [1, 2]", "a.world:2: ',' has no meaning here"),
        ("position ( pose [1 2 0 0]", "a section is not closed with )"),
        ("position ( )\n)", "a.world:2: ): a name is expected here"),
        ("position", "a.world:1: position: what follows must be"),
        ("\n\ncolor red", "a.world:3: color: what follows must be a number"),
        ("define cart ( )", "a.world:1: define: write define NAME BASE ( ... )"),
        ("model ( define a b ( ) )", "a.world:1: define: macros are defined outside"),
        ("include cart.inc", 'a.world:1: include cart.inc: write include "file"'),
        ('\ninclude "none.inc"', 'a.world:2: include "none.inc": there is no file'),
        ('include "a.world"', 'a.world:1: include "a.world": the file includes itself'),
        ("define a model ( a( ) ) a( )", "does the macro use itself?"),
        ("position ( size [1 x] )", "a.world:1: x: a list holds numbers"),
        ("position ( size [1 -1 1] )", "a.world:1: position size [1 -1 1]: must be above 0"),
        ('position ( pose "here" )', 'a.world:1: position pose "here": a list of 2 to 4 numbers'),
        ('position ( drive "legs" )', '"diff", "omni" or "car" is expected'),
        ("position (\n block ( points 3 point[0] [0 0] ) )", "a.world:2: block: point[1] is missing"),
        ("interval_sim 0", "a.world:1: world interval_sim 0: must be above 0"),
        ("interval_sim 1e-5", "a step is a microsecond at least"),
        ('unit_length "feet"', "m or cm or mm is expected"),
    ],
)
def test_malformed_worlds_are_refused_by_file_and_line(tmp_path, text, answer):
    (tmp_path / "a.world").write_text(text)
    assert answer in complaint(import_world, tmp_path / "a.world")


def test_a_bomb_of_macros_is_refused(tmp_path):
    lines = ["define m0 model ( )"]
    lines += [f"define m{k} model ( {f'm{k - 1}( ) ' * 10})" for k in range(1, 10)]
    (tmp_path / "a.world").write_text("\n".join([*lines, "m9( )"]))
    assert "with all macros written out" in complaint(import_world, tmp_path / "a.world")


def test_units_old_sonars_and_round_bodies(tmp_path):
    points = "\n".join(
        f"point[{k}] [{math.cos(k * math.pi / 8):.6f} {math.sin(k * math.pi / 8):.6f}]" for k in range(16)
    )
    (tmp_path / "a.world").write_text(f"""
unit_length "cm"
unit_angle "radians"
position (
  pose [100 200 {math.pi / 2}]
  size [30 30 10]
  drive "car" wheelbase 20
  block ( points 16 {points} z [0 1] )
  ranger ( scount 2 spose[0] [0 0 0] spose[1] [0 0 {math.pi}] sview [0 300 0.3] )
  laser ( samples 60 fov {math.pi} range_max 400 )
)
""")
    data = read(import_world(tmp_path / "a.world"))
    (kind,) = data["kinds"]
    assert kind["body"]["disk"]["radius_m"] == pytest.approx(0.15, rel=1e-4)
    assert kind["devices"]["steering"] == {"wheelbase_m": 0.2}
    assert kind["devices"]["sonar"] == {"angles_deg": [0, 180], "range_m": 3}
    assert kind["devices"]["laser"] == {"beams": 60, "field_of_view_deg": 180, "range_m": 4}
    assert data["robots"][0]["place"]["poses"] == [[1, 2, 90]]
    assert data["arena"] == {"size_m": [2, 2], "center_m": [1, 2], "walls": False}


def test_a_body_off_its_axle_is_a_polygon_and_blocks_fill_the_size(tmp_path):
    (tmp_path / "a.world").write_text("""
position ( size [0.4 0.2 0.3] origin [-0.1 0 0 0] )
position ( size [2 2 1] pose [5 5 0 0]
  block ( points 4 point[0] [0 0] point[1] [9 0] point[2] [9 3] point[3] [0 3] )
  block ( points 3 point[0] [0 3] point[1] [9 3] point[2] [4.5 9] ) )
""")
    imported = import_world(tmp_path / "a.world")
    first, second = read(imported)["kinds"]
    assert first["body"]["polygon"]["corners_m"] == [[-0.3, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.3, 0.1]]
    corners = second["body"]["polygon"]["corners_m"]
    assert [min(c[0] for c in corners), max(c[1] for c in corners)] == [-1, 1] and [0, 1] in corners
    assert any("their convex outline is used" in line for line in listed(imported))


def test_a_missing_picture_and_robots_outside_are_told(tmp_path):
    (tmp_path / "a.world").write_text("""
model ( size [4 4 1] bitmap "gone.png" boundary 1 )
position ( pose [5 0 0 0] )
""")
    imported = import_world(tmp_path / "a.world")
    arena = read(imported)["arena"]
    assert (arena["size_m"], arena["center_m"], arena["walls"]) == ([7, 4], [1.5, 0], False)
    assert len(arena["obstacles"]) == 4  # the boundary, as thick as Stage makes it
    assert any("there is no file" in line for line in listed(imported))


def test_pictures_are_named_from_where_the_scenario_will_be(yard):
    (yard.parent / "runs").mkdir()
    data = read(import_world(yard, yard.parent / "runs"))
    assert data["arena"]["bitmap"]["file"] == "../fence.png"


@given(st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_worlds_are_imported_or_refused(yard, data):
    damage(data, yard, WORLD)


# --- both ------------------------------------------------------------------------------------------------


def test_the_ending_tells_the_simulator(yard):
    assert import_file(yard).text == import_world(yard).text
    assert "must end with .world or .argos" in complaint(import_file, yard.with_suffix(".txt"))
    for path in (yard.with_name("none.world"), yard.with_name("none.argos")):
        assert complaint(import_file, path) == f"there is no file {path}"


def test_names_are_made_fit_and_never_clash():
    names = Names()
    assert names.fresh("a b:1", "x") == "a_b_1"
    assert names.fresh("", "x") == "x" and names.fresh("7", "x") == "x_7"
    assert names.fresh("fb", "x", is_group=True) == "fb" and names.fresh("fb3", "x") == "fb3-2"
    assert names.fresh("r12", "x") == "r12" and names.fresh("r", "x", is_group=True) == "r-2"
    assert names.fresh("all", "x") == "all-2"
    assert common_stem(["r0", "r1"]) == "r" and common_stem(["r1", "r2"]) is None and common_stem(["r0"]) is None
