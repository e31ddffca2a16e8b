"""From one microphone array to the other: trees and sound."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from commands import invoke, laid

import seldio
from seldio.conversion.recordings import convert_array
from seldio.media.encoding import render
from seldio.parallel import running
from seldio.synth.tree import write_tree

RATE = 24_000
NAME = "dev-train-tau/fold3_room4_mix001"
LABELS = "0,0,0,30,10,100\r\n1,0,0,31,10,100\r\n"


def wav(path: Path, sound: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, sound.T, RATE, subtype="PCM_16")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "starss23"
    luck = np.random.default_rng(3)
    source = luck.standard_normal(RATE) * 0.05
    for array in ("foa", "mic"):
        wav(root / f"{array}_dev" / f"{NAME}.wav", render(source, 60.0, 20.0, RATE, array))
    table = f"clip,path\na,foa_dev/{NAME}.wav\n"
    return laid(root, {f"metadata_dev/{NAME}.csv": LABELS, "files.csv": table})


def test_a_tree_has_the_recordings_of_one_array_and_labels_stay(tree: Path) -> None:
    out = tree.parent / "out"
    done = convert_array(tree, out, "mic")
    assert done.target == "mic"
    assert not (out / "foa_dev").exists()
    assert (out / f"mic_dev/{NAME}.wav").read_bytes() == (tree / f"mic_dev/{NAME}.wav").read_bytes()
    assert (out / f"metadata_dev/{NAME}.csv").read_bytes() == LABELS.encode()
    assert (out / "files.csv").read_bytes() == (tree / "files.csv").read_bytes()
    back = convert_array(tree, tree.parent / "back", "foa")
    assert not (tree.parent / "back" / "mic_dev").exists()
    assert back.formats == ("mic",)


def test_recordings_are_made(tree: Path) -> None:
    """A converted recording is like the one that was rendered for the other array, where both are good."""
    (tree / f"mic_dev/{NAME}.wav").rename(tree.parent / "true.wav")
    out = tree.parent / "out"
    done = convert_array(tree / "foa_dev", out, "mic")
    assert any("1 kHz octave" in note for note in done.notes)
    made, rate = soundfile.read(out / f"{NAME}.wav", always_2d=True)
    true, _ = soundfile.read(tree.parent / "true.wav", always_2d=True)
    assert (made.shape, rate) == (true.shape, RATE)
    spectra = [np.fft.rfft(sound, axis=0)[50:800] for sound in (made, true)]  # below 800 Hz
    error = np.abs(spectra[0] - spectra[1]).mean() / np.abs(spectra[1]).mean()
    assert error < 0.2


def test_one_recording(tree: Path) -> None:
    out = tree.parent / "mic.wav"
    run = invoke("convert", tree / f"foa_dev/{NAME}.wav", "--to", "mic", "-o", out)
    assert run.exit_code == 0, run.stderr
    assert soundfile.info(out).channels == 4


def test_what_cannot_be_converted(tree: Path) -> None:
    mono = tree.parent / "mono.wav"
    soundfile.write(mono, np.zeros(100), RATE)
    soundfile.write(tree.parent / "fast.wav", np.zeros((100, 4)), 2**31 - 1)
    (tree.parent / "text.wav").write_text("no sound")
    for arguments, code, words in (
        ([mono, "--to", "mic", "-o", tree.parent / "x.wav"], 1, "has 1 channel, but an array recording has 4"),
        ([tree.parent / "fast.wav", "--to", "mic", "-o", tree.parent / "x.wav"], 3, "it has 2,147,483,647 Hz"),
        ([tree.parent / "text.wav", "--to", "mic", "-o", tree.parent / "x.wav"], 3, "text.wav: "),
        ([tree, "--to", "mic"], 2, "use -o FILE"),
        ([tree, "--to", "mic", "-o", tree], 2, "is the source"),
        ([tree / "files.csv", "--to", "mic", "-o", tree.parent / "x.csv"], 2, "is no recording"),
    ):
        run = invoke("convert", *arguments)
        assert run.exit_code == code, run.stderr
        assert words in run.stderr
    assert not (tree.parent / "x.wav").exists()


def test_clipped_samples_are_counted_and_one_gain_for_the_set_keeps_them(tmp_path: Path) -> None:
    root = tmp_path / "set"
    for name, peak in (("a", 0.998), ("b", 0.2)):
        # a burst from where three capsules add up, with the given peak in W
        sound = render(np.random.default_rng(1).standard_normal(RATE), 45.0, 35.0, RATE, "foa")
        wav(root / f"foa_dev/dev-train-tau/{name}.wav", sound * peak / np.abs(sound).max())

    def run(out: str, *options: str) -> tuple[str, list[np.ndarray]]:
        arguments = ["convert", str(root), "--to", "mic", "-o", str(tmp_path / out), *options]
        done = invoke(*arguments)
        assert done.exit_code == 0, done.stderr
        return done.stderr, [soundfile.read(p)[0] for p in sorted((tmp_path / out).rglob("*.wav"))]

    words, clipped = run("clipped")
    found = re.search(r"clipped: ([\d,]+) of 192,000 samples in 1 of 2 recordings, by up to ([\d.]+) dB", words)
    assert found, words
    assert int(found[1].replace(",", "")) > 20
    assert "a.wav" in words
    (gain,) = re.findall(r"--gain (-[\d.]+) avoids clipping, with one factor for the whole set", words)

    words, kept = run("kept", "--gain", gain)
    assert "clipped" not in words
    assert f"gain of {float(gain):+g} dB in every converted recording" in words
    factor = 10 ** (float(gain) / 20)
    inside = np.abs(clipped[0]) < 0.99
    np.testing.assert_allclose(kept[0][inside], clipped[0][inside] * factor, atol=3e-5)
    np.testing.assert_allclose(kept[1], clipped[1] * factor, atol=3e-5)
    for path in sorted((tmp_path / "kept").rglob("*.wav")):
        with soundfile.SoundFile(path) as file:
            assert file.comment == f"seldio convert --to mic --gain {float(gain):g} (dB)"
    assert np.abs(kept[0]).max() > 0.97, "not quieter than it has to be"


@pytest.mark.slow
def test_workers_make_the_same_recordings(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", 3, seconds=2.0, media=["audio"])
    shutil.rmtree(tmp_path / "tree/mic_dev")
    made = []
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        with running(workers):
            done = seldio.convert(tmp_path / "tree", out, "mic", audio=True, gain=-3)
        files = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        made.append((done.clipped, files))
    assert made[0] == made[1]
    assert any(path.parts[0] == "mic_dev" for path in made[0][1])
