"""Colours as eyes see them: contrast, what colour blindness leaves of them, and how far apart two are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

DEFICIENCIES: dict[str, Vector] = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""On linear RGB, at full severity: Machado, Oliveira and Fernandes, A physiologically-based model for
simulation of color vision deficiency, IEEE TVCG 15(6), 2009, table 1."""

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(color: str) -> Vector:
    """`#rrggbb` as linear RGB (IEC 61966-2-1)."""
    channels = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """1 to 21 (WCAG 2.2, "contrast ratio")."""
    bright, dark = sorted((float(_TO_XYZ[1] @ linear(each)) for each in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def distance(one: str, other: str, deficiency: str = "none") -> float:
    """CIEDE2000 between two colours as an eye with that deficiency sees them; about 2.3 is just noticeable.

    Sharma, Wu and Dalal, The CIEDE2000 color-difference formula, Color Research and Application 30(1), 2005.
    """
    (l1, a1, b1), (l2, a2, b2) = (_lab(each, DEFICIENCIES[deficiency]) for each in (one, other))
    mean_chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    lightness, chroma = l2 - l1, c2 - c1
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, middle = (l1 + l2) / 2, (c1 + c2) / 2
    towards = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * math.cos(math.radians(towards - 30))
        + 0.24 * math.cos(math.radians(2 * towards))
        + 0.32 * math.cos(math.radians(3 * towards + 6))
        - 0.20 * math.cos(math.radians(4 * towards - 63))
    )
    s_l = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * middle, 1 + 0.015 * middle * t
    spin = 60 * math.exp(-(((towards - 275) / 25) ** 2))
    r_t = -math.sin(math.radians(spin)) * 2 * math.sqrt(middle**7 / (middle**7 + 25**7))
    return math.sqrt(
        (lightness / s_l) ** 2 + (chroma / s_c) ** 2 + (hue / s_h) ** 2 + r_t * chroma / s_c * hue / s_h
    )


def _lab(color: str, seen: Vector) -> tuple[float, float, float]:
    xyz = _TO_XYZ @ np.clip(seen @ linear(color), 0, 1) / _WHITE
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))
