"""The label and submission layouts: one row each.

A column is ``field:kind``. Fields are those of the event table. Kinds:

- ``int``: a whole number, strictly (the official loaders call ``int()`` on it)
- ``whole``: a whole number is asked for, decimals are read (the loaders call ``float()``)
- ``real``: a decimal number
- ``real3``: the same, written with three decimals
- ``real3inf``: the same, or ``inf`` / ``-inf``
- ``flag``: 0 or 1
- ``name``: a class name
- ``zero``: written as 0; read as a decimal number, and carried only where it is not 0 throughout

A new year is one more row, and one more folder under ``tests/cases/formats``.
"""

from __future__ import annotations

from seldio import clock, plugins
from seldio.formats.label_csv import Dialect, column

_TASK = "https://dcase.community/challenge{}/task-sound-event-localization-and-detection"
_STARSS = _TASK + "-evaluated-in-real-spatial-sound-scenes"


def _columns(text: str) -> tuple[column, ...]:
    return tuple(column(*item.split(":")) for item in text.split())


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        name="starss23", title="STARSS23 labels: frame, class, source, azimuth, elevation, distance in cm",
        role="label", years="2023, 2024",
        columns=_columns("frame:int class_id:int source:int azimuth:whole elevation:whole distance:whole"), metre=100,
        aliases=("starss", "dcase2023", "dcase2024"), source=_STARSS.format("2023"),
        note="Six integer columns; three other layouts have six columns too.",
    ),
    Dialect(
        name="starss22", title="STARSS22 labels: frame, class, source, azimuth, elevation", role="label",
        years="2022", columns=_columns("frame:int class_id:int source:int azimuth:whole elevation:whole"),
        aliases=("dcase2022",), source=_STARSS.format("2022"),
        note="The labels of 2020 and 2021 have the same columns but other classes.",
    ),
    Dialect(
        name="dcase2019", title="TAU SSE 2019 labels: class name, onset, offset, elevation, azimuth, distance in m",
        role="label", years="2019",
        columns=_columns("class_name:name onset:real offset:real elevation:whole azimuth:whole distance:whole"),
        header="sound_event_recording,start_time,end_time,ele,azi,dist", metre=1, vocabulary="tau-sse-2019",
        aliases=("tau-sse-2019",), source=_TASK.format("2019"),
        note="One row is a whole event, in seconds; elevation comes before azimuth.",
    ),
    Dialect(
        name="dcase2019-output", title="2019 outputs and submissions: frame (20 ms), class, azimuth, elevation",
        role="submission", years="2019", columns=_columns("frame:int class_id:int azimuth:whole elevation:whole"),
        vocabulary="tau-sse-2019", hop=clock.HOP_2019, clip_frames=3000, source=_TASK.format("2019"),
        note="The same four columns as in 2022 and 2023, but 20 ms frames and other classes.",
    ),
    Dialect(
        name="dcase2020", title="TAU-NIGENS 2020 and 2021 labels: frame, class, track, azimuth, elevation",
        role="label", years="2020, 2021",
        columns=_columns("frame:int class_id:int source:int azimuth:whole elevation:whole"),
        vocabulary="tau-nigens-2020", clip_frames=600, aliases=("dcase2021", "tau-nigens-2020", "tau-nigens-2021"),
        alias_vocabularies={"dcase2021": "tau-nigens-2021", "tau-nigens-2021": "tau-nigens-2021"},
        source=_TASK.format("2020"), note="2020 has 14 classes; 2021 has 12 of them, with other numbers.",
    ),
    Dialect(
        name="dcase2020-submission",
        title="2020 and 2021 submissions: frame, class, track (any number), azimuth, elevation, decimals allowed",
        role="submission", years="2020, 2021",
        columns=_columns("frame:int class_id:int source:int azimuth:real elevation:real"),
        vocabulary="tau-nigens-2020", clip_frames=600, fills={"source": -1}, source=_TASK.format("2020"),
        note="Columns as in the labels; track numbers are arbitrary, and some participants wrote -1.",
    ),
    Dialect(
        name="dcase2020-output", title="2020 to 2022 baseline outputs: frame, class, 0, x, y, z", role="output",
        years="2020, 2021, 2022", columns=_columns("frame:int class_id:int source:int x:real y:real z:real"),
        fills={"source": 0}, vocabulary="tau-nigens-2020", aliases=("dcase2021-output", "dcase2022-output"),
        alias_vocabularies={"dcase2021-output": "tau-nigens-2021", "dcase2022-output": "starss"},
        source=_TASK.format("2020"),
        note="The norm of (x, y, z) is the activity: above 0.5, but not 1. The class list is that of the year.",
    ),
    Dialect(
        name="dcase2023-output", title="2023 baseline outputs: frame, class, 0, x, y, z, 0", role="output",
        years="2023", columns=_columns("frame:int class_id:int source:int x:real y:real z:real distance:zero"),
        metre=1, fills={"source": 0}, source=_STARSS.format("2023"), note="The last column is the constant 0.",
    ),
    Dialect(
        name="dcase2024-output", title="2024 baseline outputs: frame, class, 0, x, y, z, distance in m",
        role="output", years="2024",
        columns=_columns("frame:int class_id:int source:int x:real y:real z:real distance:real"), metre=1,
        fills={"source": 0},
        source="https://dcase.community/challenge2024/task-audio-and-audiovisual-sound-event-"
        "localization-and-detection-with-source-distance-estimation",
        note="Distance is in metres, but in centimetres in labels and submissions of the same year.",
    ),
    Dialect(
        name="dcase2023-submission", title="2022 and 2023 submissions: frame, class, azimuth, elevation",
        role="submission", years="2022, 2023",
        columns=_columns("frame:int class_id:int azimuth:whole elevation:whole"), aliases=("dcase2022-submission",),
        source=_STARSS.format("2023"),
        note="The official scorer silently drops rows of four columns: such a file scores F = 0.",
    ),
    Dialect(
        name="dcase2024-submission", title="2024 submissions: frame, class, azimuth, elevation, distance in cm",
        role="submission", years="2024",
        columns=_columns("frame:int class_id:int azimuth:whole elevation:whole distance:whole"), metre=100,
        source="https://dcase.community/challenge2024/task-audio-and-audiovisual-sound-event-"
        "localization-and-detection-with-source-distance-estimation",
        note="The official loader reads five columns as labels with a source: azimuth as source and so on.",
    ),
    Dialect(
        name="sony-av-output",
        title="2023 audiovisual baseline outputs: frame, class, azimuth, elevation with decimals", role="output",
        years="2023", columns=_columns("frame:int class_id:int azimuth:real elevation:real"),
        source="https://github.com/sony/audio-visual-seld-dcase2023",
        note="A file of 0 bytes means that nothing was detected.",
    ),
    Dialect(
        name="dcase2025",
        title="2025 stereo labels and submissions: frame, class, source, azimuth, distance in cm, onscreen",
        role="label", years="2025",
        columns=_columns("frame:int class_id:int source:int azimuth:whole distance:whole onscreen:flag"),
        header="frame,class,source,azimuth,distance,onscreen", metre=100, clip_frames=50, folded=True,
        fills={"source": 0}, aliases=("dcase2025-submission",),
        source="https://dcase.community/challenge2025/task-stereo-sound-event-localization-and-detection-"
        "in-regular-video-content",
        note="Azimuth is folded into [-90, 90]; the official loader always drops the first line.",
    ),
    Dialect(
        name="spatialscaper", title="SpatialScaper labels: frame, class, source, azimuth, elevation, distance in m",
        role="label", years="since 2024",
        columns=_columns("frame:int class_id:int source:int azimuth:whole elevation:whole distance:real3"), metre=1,
        source="https://github.com/marl/SpatialScaper",
        note="Columns as in STARSS23, but in metres; its writer truncates angles instead of rounding them.",
    ),
    Dialect(
        name="so-dataset", title="SO-Dataset annotations: frame, class, track, azimuth, elevation, distance in cm",
        role="label", years="2026",
        columns=_columns("frame:int class_id:int source:int azimuth:real3 elevation:real3inf distance:whole"),
        metre=100, unknown_distance=-1, newline="\r\n", vocabulary="so-dataset",
        source="https://github.com/dieKarotte/Spatial-Omni",
        note="Lines end with CR LF; distance -1 means unknown; elevation inf or -inf means only above or below.",
    ),
    Dialect(
        name="seld-studio", title="seld-studio annotations: frame, class name, x, y, z", role="label",
        columns=_columns("frame:int class_name:name x:real y:real z:real"), header="frame,class,x,y,z",
        silence="NOTHING", vocabulary="starss", source="https://github.com/AISoundLab/seld-studio",
        note="Every frame has a row; a frame without events is NOTHING,0,0,0. Names outside the "
        "vocabulary stay as written.",
    ),
    *plugins.rows("dialects", Dialect),
)  # fmt: skip
