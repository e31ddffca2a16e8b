"""FOA or MIC: told from the sound of recordings before anything is done with them, whatever their folders are called."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import invoke
from effort import some

import seldio
from seldio.errors import SeldioError
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.media.intensity import array_heard
from seldio.synth import scene
from seldio.synth.recording import RATE, RecordingOptions, record
from seldio.synth.tree import write_tree

pytestmark = pytest.mark.slow

CLIPS = (("fold3_room4_mix001", "dev-train-tau"), ("fold4_room2_mix001", "dev-test-tau"))
TRAIN = "dev-train-tau/fold3_room4_mix001.wav"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays") / "starss23"
    write_tree(folder, 5, seconds=20.0, clips=CLIPS, media=("audio",))
    return folder


@pytest.fixture
def tree(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "starss23"))


def run(*arguments: object) -> tuple[int, str]:
    done = invoke(*arguments)
    return done.exit_code, done.stderr + done.stdout


def heard(sound: Any, folder: Path) -> str | None:
    """What a recording in no telling folder sounds like."""
    soundfile.write(folder / "x.wav", np.asarray(sound).T, RATE, subtype="PCM_16")
    with open_source(folder / "x.wav", raise_errors) as source:
        found = array_heard(source.entries[0])
    assert found is not None
    return found.heard


@pytest.mark.parametrize("seed", some(range(8), 8, 3))
def test_no_scene_sounds_like_the_other_array(seed: int, tmp_path: Path) -> None:
    options = RecordingOptions(reverberation=(0.0, 0.4, 0.8, 1.5)[seed % 4], snr=(None, 20, 0, -20)[seed // 2])
    sounds = record(scene(seed, 8.0, 6), 8.0, seed, options)

    assert heard(sounds["foa"], tmp_path) != "mic"
    assert heard(sounds["mic"], tmp_path) != "foa"


def test_what_cannot_be_told_is_not_told(tmp_path: Path) -> None:
    luck = np.random.default_rng(1)
    mono = np.repeat(luck.normal(0, 0.1, (1, 2 * RATE)), 4, axis=0)
    noise = luck.normal(0, 0.1, (4, 2 * RATE))

    assert heard(np.zeros((4, RATE)), tmp_path) is None
    assert heard(mono, tmp_path) is None
    assert heard(mono + 0.01 * noise, tmp_path) is None
    assert heard(noise, tmp_path) is None


def test_one_array_is_not_copied_as_the_other(tree: Path, tmp_path: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    for number, path in enumerate(sorted((tree / "foa_dev").rglob("*.wav"))):
        shutil.copy(path, flat / f"{number}.wav")

    for source in (tree / "foa_dev", flat):
        for to in ("mic", "foa"):
            assert run("convert", source, "--to", to, "-o", tmp_path / to)[0] == 0
            for path in (tmp_path / to).rglob("*.wav"):
                with open_source(path, raise_errors) as made:
                    found = array_heard(made.entries[0])
                assert found is not None
                assert found.heard == to
            shutil.rmtree(tmp_path / to)


def test_a_recording_is_not_converted_to_what_it_is(tree: Path, tmp_path: Path) -> None:
    for name in ("mic.wav", "a.wav"):
        shutil.copy(tree / "mic_dev" / TRAIN, tmp_path / name)
        code, said = run("convert", tmp_path / name, "--to", "mic", "-o", tmp_path / "out.wav")
        assert (code, "is a recording of MIC already: --to foa converts it" in said) == (1, True)
        assert run("convert", tmp_path / name, "--to", "foa", "-o", tmp_path / "out.wav")[0] == 0
    code, said = run("convert", tmp_path / "a.wav", "--to", "mic", "--format", "foa", "-o", tmp_path / "out.wav")
    assert (code, "1 recording named FOA sounds like MIC" in said) == (1, True)


def test_the_user_says_what_neither_name_nor_sound_tells(tmp_path: Path) -> None:
    for name in ("silent.wav", "foa_silent.wav"):
        soundfile.write(tmp_path / name, np.zeros((RATE, 4)), RATE)
    silent, out = tmp_path / "silent.wav", tmp_path / "out.wav"

    code, said = run("convert", silent, "--to", "mic", "-o", out)
    assert (code, "--format foa or --format mic says which" in said) == (1, True)
    code, said = run("convert", silent, "--to", "mic", "--format", "foa", "-o", out)
    assert (code, "the sound of 1 recording does not tell FOA from MIC" in said) == (0, True)
    assert run("convert", silent, "--to", "mic", "--format", "mic", "-o", out)[0] == 1
    assert run("convert", silent, "--to", "mic", "--format", "starss23", "-o", out)[0] == 2
    assert run("convert", tmp_path / "foa_silent.wav", "--to", "mic", "-o", out)[0] == 0


def test_a_folder_with_the_files_of_another_array_is_refused(tree: Path, tmp_path: Path) -> None:
    shutil.copy(tree / "mic_dev" / TRAIN, tree / "foa_dev" / TRAIN)
    wrong = tree / "foa_dev" / TRAIN

    code, said = run("convert", tree, "--to", "mic", "--audio", "-o", tmp_path / "out")
    assert (code, f"1 recording named FOA sounds like MIC ({wrong})" in said) == (1, True)
    with pytest.raises(SeldioError, match="sounds like a microphone array"):
        seldio.convert(tree, tmp_path / "so.jsonl", "so-bench", audio=True)


def test_info_and_view_say_what_is_heard(tree: Path) -> None:
    right, wrong = tree / "mic_dev" / TRAIN, tree / "foa_dev" / TRAIN
    assert "array       sounds like MIC\n" in run("info", right)[1]
    shutil.copy(right, wrong)
    assert "array       sounds like MIC, but its name says FOA" in run("info", wrong)[1]
    assert {"named": "foa", "heard": "mic"} == json.loads(run("info", wrong, "--json")[1])["media"][0]["array"]

    labels = tree / "metadata_dev" / TRAIN.replace(".wav", ".csv")
    page = seldio.view(labels, io.BytesIO())
    assert any("among the FOA recordings and sounds like MIC: mixed as MIC" in note for note in page.media)


def test_what_sounds_like_no_array_is_asked_for_and_counted(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"yard_{number}.csv").write_text("0,1,0,30,0,100\n")
    for number in range(2):
        noise = np.random.default_rng(number).normal(0, 0.1, (2 * RATE, 4))
        soundfile.write(tmp_path / f"yard_{number}.wav", noise, RATE)

    _, said = run("validate", tmp_path, "--deep", "--select", "AUD3")
    assert "yard_0, yard_1: not heard, the four channels look like neither FOA nor MIC" in said
    assert 'set arrays = ["foa"] (or ["mic"]) under [recordings] in dataset.toml' in said
    assert "yard_2: not heard, no recording was found" in said
    assert said.endswith("; 2 recordings not compared with the sound; 1 clip without a recording.\n")

    description = '[labels]\nformats = ["starss23"]\n[recordings]\narrays = ["foa"]\n'
    (tmp_path / "dataset.toml").write_text(f'name = "yard"\n{description}')
    assert "neither FOA nor MIC" not in run("validate", tmp_path, "--deep", "--select", "AUD3")[1]
