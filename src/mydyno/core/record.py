"""What facts, plans, messages, advice and digests are made of: frozen, and strict about keys when read."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
