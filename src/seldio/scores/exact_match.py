"""Exact match as MERA asks for it of lm-eval, and what its narrow eye misses."""

from __future__ import annotations

import re
import string

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ANSWER_WORD = re.compile(r"(?<![^\W_])ответ(?![^\W_])[\s:]*", re.IGNORECASE)


def normalised(text: str, *, ignore_case: bool = True, ignore_punctuation: bool = True) -> str:
    """What exact match compares: small letters, no ASCII punctuation; white space stays.

    Characters NUL at the end fall away, as they do in the numpy arrays of lm-eval (which also cut off what a letter
    such as İ grows by when it is made small, depending on the longest answer; that is not followed). Other
    punctuation, such as « » and —, stays: ``string.punctuation`` is ASCII.
    """
    if ignore_case:
        text = text.lower()
    if ignore_punctuation:
        text = text.translate(_NO_PUNCTUATION)
    return text.rstrip("\0")


def exact_match(prediction: str, reference: str, *, ignore_case: bool = True, ignore_punctuation: bool = True) -> bool:
    """Whether lm-eval's ``exact_match`` gives 1; the defaults are MERA's options for ruEnvAQA.

    Source: lm-evaluation-harness, ``api/metrics.py``, ``exact_match_hf_evaluate``; MERA_MULTIMODAL, ``ruenvaqa.yaml``.
    """
    options = {"ignore_case": ignore_case, "ignore_punctuation": ignore_punctuation}
    return normalised(prediction, **options) == normalised(reference, **options)


def after_answer_word(text: str) -> str | None:
    """What stands behind the last ОТВЕТ (in any case), white space at both ends removed; None without that word."""
    found = list(_ANSWER_WORD.finditer(text))
    return text[found[-1].end() :].strip() if found else None
