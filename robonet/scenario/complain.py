"""What a validator found, in words for people."""

from typing import Any

from pydantic import BaseModel, ValidationError

from robonet.plugins import closest
from robonet.scenario.problems import Problem
from robonet.scenario.schema import Scenario

_WORDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "tuple_type": "must be a list",
    "finite_number": "must be a finite number",
}


def problems_of_types(error: ValidationError) -> list[Problem]:
    """One problem a place, in the order of the file's schema."""
    found: dict[tuple[str | int, ...], Problem] = {}
    for detail in error.errors(include_url=False):
        steps = _without_tags(tuple(detail["loc"]))
        if steps in found:  # a union complains once for each of its members: say it once
            found[steps] = Problem(steps, _union_words(steps) or found[steps].text)
        else:
            found[steps] = _problem(steps, detail)
    return list(found.values())


def _problem(steps: tuple[str | int, ...], detail: Any) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = _keys_at(steps[:-1])
        hint = closest(str(steps[-1]), known) or f"; known here: {', '.join(known)}"
        return Problem(steps, "unknown key", hint, show_value=False)
    if kind == "missing":
        hint = "; begin the file with `robonet: 1`" if steps == ("robonet",) else ""
        return Problem(steps, "is missing", hint, show_value=False)
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        sign, bound = next((sign, context[key]) for key, sign in _SIGNS if key in context)
        return Problem(steps, f"must be {sign} {bound}")
    if kind == "literal_error":
        return Problem(steps, f"must be {context['expected']}")
    if kind in ("too_long", "too_short"):
        return Problem(steps, "has the wrong number of items")
    if kind == "string_pattern_mismatch":
        return Problem(steps, "must begin with a letter and contain only letters, digits, - and _")
    if kind == "value_error":
        return Problem(steps, str(context["error"]), show_value=False)
    return Problem(steps, _WORDS.get(kind, detail["msg"]))


_SIGNS = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))


def _union_words(steps: tuple[str | int, ...]) -> str | None:
    return {
        "senders": "must be a share above 0 and up to 1.0, a whole number from 1, a name or a list of names",
        "heading_deg": "must be a number or 'random'",
    }.get(str(steps[-1]) if steps else "")


def _without_tags(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Leave out the members of a union that the validator puts into a location."""
    tags = ("constrained-", "function-", "tuple[", "literal[")
    return tuple(
        step
        for step in loc
        if not (isinstance(step, str) and (step.startswith(tags) or step in ("float", "int", "str")))
    )


def _keys_at(steps: tuple[str | int, ...]) -> list[str]:
    """The keys known at a place, found by walking the types of the schema."""
    model: type[BaseModel] = Scenario
    for step in steps:
        if isinstance(step, int) or step not in model.model_fields:
            continue
        model = _model_in(model.model_fields[step].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if (found := _model_in(argument)) is not None:
            return found
    return None
