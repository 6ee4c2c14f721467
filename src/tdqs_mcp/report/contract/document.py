"""What all our JSON has in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Tenths = Annotated[float, Field(ge=1, le=5, description="A score with one decimal, 1.0-5.0")]
Point = Annotated[int, Field(ge=1, le=5)]
Percent = Annotated[float, Field(ge=0, le=100, description="With one decimal: 0 is all ones, 100 all fives")]


class Document(BaseModel):
    """Camel case on the wire, and nothing that the schema does not say."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")
