"""How our questions are laid out."""

from __future__ import annotations

from seldio.formats.json_items import JsonItems

ITEM_FORMATS = (
    JsonItems(
        name="lab2027-qa",
        title="questions of our lab: JSON Lines with the name of the recording",
        holds="items",
        needs=("id", "audio", "question", "answer"),
        language="en",
        keys={"nr": "id", "wav": "audio", "ask": "question", "reply": "answer"},
        required=("nr", "wav", "ask", "reply"),
        marks=("nr", "wav", "ask"),
    ),
)
