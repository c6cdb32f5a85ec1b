"""What every section of a scenario is made of: strict frozen mappings, choices, and numbers with bounds."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator

Point = tuple[float, float]
Positive = Annotated[float, Field(gt=0, le=9e9)]
NonNegative = Annotated[float, Field(ge=0, le=9e9)]
Interval = tuple[NonNegative, NonNegative]
Probability = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=64)]
Params = dict[str, Any]


def as_tuples(data: Any) -> Any:
    """The same data with tuples for lists: what strict, frozen types take."""
    if isinstance(data, dict):
        return {key: as_tuples(value) for key, value in data.items()}
    return tuple(as_tuples(item) for item in data) if isinstance(data, list) else data


class Section(BaseModel):
    """A mapping in the file: frozen, no unknown keys, no silent conversion, no infinities."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class Choice(Section):
    """A mapping with exactly one key, which names the alternative; a bare word stands for `{word: {}}`."""

    @model_validator(mode="before")
    @classmethod
    def _word(cls, data: Any) -> Any:
        return {data: {}} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _exactly_one(self) -> "Choice":
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}; found {len(given)}")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """As the parser has it: one key, or one word."""
        made: dict[str, Any] = dict(handler.resolve_ref_schema(handler(core)))
        words = [name for name in cls.model_fields if name not in ("at_m", "poses", "corners_m")]
        about: dict[str, Any] = {key: made.pop(key) for key in ("title", "description") if key in made}
        return {**about, "anyOf": [{**made, "minProperties": 1, "maxProperties": 1}, {"enum": words}]}

    @property
    def chosen(self) -> Any:
        """The settings of the one alternative that was given."""
        return next(value for _, value in self if value is not None)
