"""What has to be written down of a batch: where its answers are, and whose they are."""

from pydantic import BaseModel, ConfigDict, ValidationError

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.rubrics.prompt import PromptForm


class Batch(BaseModel):
    """A batch of one judge's requests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    rubric: str
    model: str
    prompt: PromptForm
    parameters: str

    @classmethod
    def of(cls, judge: Prompted, *, batch: str, rubric: str) -> "Batch":
        """What this judge has submitted under an id."""
        return cls(id=batch, rubric=rubric, model=judge.model.name, prompt=judge.form, parameters=judge.parameters)


def read(text: str, *, judge: Prompted) -> Batch:
    """The batch that was written down. Raises InputError for none, and for another judge's."""
    try:
        batch = Batch.model_validate_json(text)
    except ValidationError as error:
        raise InputError("this is no batch: give the JSON that submit_batch gave") from error
    if batch != Batch.of(judge, batch=batch.id, rubric=batch.rubric):
        raise InputError(
            f"this batch asks {batch.model!r} with its {batch.prompt} prompt and parameters of its own: collect it "
            "with the judge that submitted it"
        )
    return batch
