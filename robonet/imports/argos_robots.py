"""What ARGoS' robots carry and run: controllers, and the noise of their sensors and actuators."""

import math
from typing import Any, NamedTuple

from robonet.imports.argos_places import vector
from robonet.imports.parts import LARGEST_NUMBER, Part

KINDS = ("foot-bot", "e-puck", "eye-bot", "kilobot")
FLYING = ("eye-bot",)

SENSORS = {
    **dict.fromkeys(("proximity", "footbot_proximity", "epuck_proximity", "eyebot_proximity"), "proximity"),
    **dict.fromkeys(("light", "footbot_light", "epuck_light", "eyebot_light", "kilobot_light"), "light"),
    **dict.fromkeys(("ground", "footbot_motor_ground", "footbot_base_ground", "epuck_ground"), "ground"),
    **dict.fromkeys(("range_and_bearing", "epuck_range_and_bearing", "kilobot_communication"), "range_and_bearing"),
    **dict.fromkeys(("colored_blob_omnidirectional_camera", "colored_blob_perspective_camera"), "camera"),
    "positioning": "positioning",
    "battery": "battery",
    "differential_steering": "wheels",
}
ACTUATORS = {
    "differential_steering": "wheels",
    "leds": "leds",
    "footbot_gripper": "gripper",
    "quadrotor_position": "quadrotor_position",
    "quadrotor_speed": "quadrotor_velocity",
    **dict.fromkeys(("range_and_bearing", "epuck_range_and_bearing", "kilobot_communication"), "range_and_bearing"),
    **dict.fromkeys(("kilobot_led", "epuck_rgb_leds"), "leds"),
}
"""Devices of ARGoS that robonet's robots carry too, by robonet's names."""


class Behaviour(NamedTuple):
    """What a controller of the file comes down to."""

    controller: dict[str, Any]
    """`controller` and `params` of a group, or nothing."""
    devices: dict[str, Any]
    """Changes to the devices of a group."""


def behaviour_of(controller: Part) -> Behaviour:
    """A controller that robonet has too, or only the noise that it asks for."""
    controller.opened()
    controller.take("id")
    devices: dict[str, Any] = {}
    for kind, known in (("actuators", ACTUATORS), ("sensors", SENSORS)):
        group = controller.take_part(kind)
        for device in group.parts if group is not None else ():
            if device.kind in known:
                device.opened().take("implementation")
                device.take("medium")
                _add_noise(device, known[device.kind], devices)
    return Behaviour(_known_controller(controller), devices)


def _known_controller(controller: Part) -> dict[str, Any]:
    if controller.kind != "footbot_diffusion_controller":
        why = "a Lua script" if controller.kind == "lua_controller" else "a program for ARGoS"
        controller.remark("what it does", f"{why}: write a controller in Python and name it under `robots`")
        controller.leave("library", why)
        return {}
    controller.leave("library", "robonet has this controller built in")
    params: dict[str, Any] = {}
    given = controller.take_part("params")
    if given is not None:
        if "alpha" in given.values:
            params["alpha_deg"] = given.number("alpha", 7.5)
        if "delta" in given.values:
            params["delta"] = given.number("delta", 0.1)
        if "velocity" in given.values:
            params["speed_m_s"] = given.number("velocity", 5.0) / 100.0
    return {"controller": "diffusion", **({"params": params} if params else {})}


def _add_noise(device: Part, name: str, devices: dict[str, Any]) -> None:
    """What the attributes of a device say about noise, in robonet's words; all else of them is left."""
    changes: dict[str, Any] = {}
    if name in ("proximity", "light", "ground") and (level := device.number("noise_level", 0.0)) > 0:
        changes["noise"] = [{"uniform": {"low": -level, "high": level}}]
    elif name == "range_and_bearing":
        if (std := device.number("noise_std_dev", 0.0)) > 0:
            changes["range_noise"] = [{"gaussian": {"std": std}}]
            device.leave("noise_std_dev", "taken over for the distance; that of the bearing is set by hand")
        if (drop := device.number("packet_drop_prob", 0.0)) > 0:
            changes["drop_probability"] = min(drop, 1.0)
    elif name == "positioning":
        for attribute, key, unit in (
            ("pos_noise_range", "noise", 1.0),
            ("angle_noise_range", "heading_noise", math.radians(1.0)),
        ):
            if attribute in device.values:
                low, high = _interval(device, attribute)
                changes[key] = [{"uniform": {"low": low * unit, "high": high * unit}}]
    elif name == "wheels" and (std := device.number("factor_stddev", 0.0)) > 0:
        changes["noise"] = [{"gaussian": {"std": std}}]
    if changes:
        devices[name] = {**devices.get(name, {}), **changes}


def _interval(part: Part, name: str) -> tuple[float, float]:
    words = str(part.take(name)).split(":")
    try:
        low, high = (float(word) for word in words)
    except ValueError as error:
        raise part.wrong("two numbers with a colon between them are expected", name) from error
    if not -LARGEST_NUMBER <= low <= high <= LARGEST_NUMBER:
        raise part.wrong("two numbers are expected, the lesser one first", name)
    return low, high


def own_devices(robot: Part) -> dict[str, Any]:
    """What the attributes of a robot say about its devices."""
    changes: dict[str, Any] = {}
    if "rab_range" in robot.values:
        changes["range_m"] = robot.positive("rab_range", 3.0)
    if "rab_data_size" in robot.values:
        changes["payload_bytes"] = min(max(1, robot.whole("rab_data_size", 10)), 65507)
    return {"range_and_bearing": changes} if changes else {}


def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Changes to devices from two places."""
    return {name: {**one.get(name, {}), **other.get(name, {})} for name in (*one, *(n for n in other if n not in one))}


def region_of(engine: Part) -> list[tuple[float, float]]:
    """The corners that bound an engine, as the file has them; none where it is everywhere."""
    boundaries = engine.take_part("boundaries")
    sides = boundaries.take_part("sides") if boundaries is not None else None
    if sides is None:
        return []
    corners = []
    for vertex in sides.parts:
        if vertex.kind == "vertex":
            x, y = vector(vertex.opened(), "point", 2)
            corners.append((x, y))
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if len(corners) < 3:
        raise sides.wrong("at least three different vertices are expected")
    return corners
