"""A Hugging Face Space: drop files, see the report of ``seldio validate`` and the page of a clip.

``python app.py`` runs it here.
"""

from __future__ import annotations

import checks
import gradio as gr

import seldio


def run(files: list[str] | None, format: str) -> tuple[object, ...]:
    """Check what was dropped, and offer its clips."""
    if not files:
        raise gr.Error("Drop label files, a file of questions or a zip archive first.")
    try:
        found = checks.check(files, format)
    except seldio.SeldioError as error:
        raise gr.Error(str(error)) from error
    chosen = found.clips[0] if found.clips else None
    return (
        found.verdict,
        checks.framed(found.report, 480),
        gr.update(value=found.files, visible=True),
        gr.update(choices=found.clips, value=chosen, visible=bool(found.clips)),
        gr.update(visible=bool(found.clips)),
        "",
    )


def show(files: list[str] | None, clip: str | None) -> str:
    """The page of a clip."""
    if not files:
        raise gr.Error("Drop label files or a zip archive first.")
    try:
        return checks.framed(checks.page(files, clip), 900)
    except seldio.SeldioError as error:
        raise gr.Error(str(error)) from error


with gr.Blocks(title="seldio", analytics_enabled=False) as app:
    gr.Markdown(
        "# seldio\nChecks data for sound event localization and detection (SELD) and audio question answering: "
        "what is wrong, where, why it matters and what to do."
    )
    with gr.Row():
        files = gr.File(label="Label files, questions, or a zip archive", file_count="multiple", elem_id="files")
        with gr.Column():
            format = gr.Dropdown(checks.NAMES, value=checks.AUTOMATIC, label="Format")
            go = gr.Button("Check", variant="primary", elem_id="check")
            example = gr.Button("Try a submission with mistakes", elem_id="example")
    verdict = gr.Markdown(elem_id="verdict")
    report = gr.HTML(elem_id="report")
    with gr.Row():
        clip = gr.Dropdown([], label="Clip", visible=False, elem_id="clip")
        look = gr.Button("Look at the clip", visible=False, elem_id="look")
    page = gr.HTML(elem_id="page")
    downloads = gr.File(label="Report", visible=False, interactive=False)

    results = [verdict, report, downloads, clip, look, page]
    go.click(run, [files, format], results)
    files.upload(run, [files, format], results)
    example.click(lambda: [checks.example()], None, files).then(run, [files, format], results)
    look.click(show, [files, clip], page)

if __name__ == "__main__":
    app.launch(ssr_mode=False)
