"""The loss of multi-ACCDOA with torch: auxiliary duplicating permutation invariant training (ADPIT).

Run it to see that the order of the tracks does not matter. Source: Shimada et al., "Multi-ACCDOA: Localizing and
Detecting Overlapping Sounds from the Same Class with Auxiliary Duplicating Permutation Invariant Training", ICASSP
2022, section 3.2; distances join x, y, z as in Krause et al., "Sound Event Detection and Localization with Distance
Estimation", EUSIPCO 2024.
"""

from itertools import permutations

import torch
from torch import Tensor

#: The ways to give one source (A0), two (B0, B1) or three (C0, C1, C2) to three tracks, by dummy track of the target.
ONE = [(0, 0, 0)]
TWO = sorted({*permutations((1, 1, 2)), *permutations((1, 2, 2))})
THREE = sorted(permutations((3, 4, 5)))
WAYS = [*ONE, *TWO, *THREE]


def adpit(output: Tensor, target: Tensor) -> Tensor:
    """The mean squared error under the best of the 13 ways, chosen for each class and frame.

    Args:
        output: three tracks, shape (batch, frames, 3, parts, classes).
        target: ``multi-accdoa`` of seldio, shape (batch, frames, 6, 1 + parts, classes), the activity first.

    Returns:
        A scalar.
    """
    active = target[:, :, :, 0]  # (batch, frames, 6, classes)
    sources = target[:, :, :, 1:] * active[:, :, :, None]
    errors = torch.stack([(output - sources[:, :, list(way)]).square().mean((2, 3)) for way in WAYS])
    # as many sources as there are decide which ways apply; A0 is zero where the class is silent
    two, three = active[:, :, 1], active[:, :, 3]
    applies = torch.stack([1 - two - three] * len(ONE) + [two] * len(TWO) + [three] * len(THREE))
    return errors.masked_fill(applies < 0.5, torch.inf).min(0).values.mean()


if __name__ == "__main__":
    target = torch.zeros(1, 1, 6, 4, 13)
    target[0, 0, 1, :, 2] = torch.tensor([1.0, 1, 0, 0])  # two sources of class 2: front and left
    target[0, 0, 2, :, 2] = torch.tensor([1.0, 0, 1, 0])
    output = torch.zeros(1, 1, 3, 3, 13)
    output[0, 0, :, :, 2] = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 1, 0]])
    print(f"left, front, left: {adpit(output, target):.4f}")
    output[0, 0, 1, :, 2] = torch.tensor([-1.0, 0, 0])
    print(f"left, back, left: {adpit(output, target):.4f}")
