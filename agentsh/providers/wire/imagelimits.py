"""What a refusal says of pictures: how many, how large, how wide they may be (E35). Pure.

Asked only of a request that held pictures. Evidence, as in overflow.py: the status, the unit that a
number has, and the number against what was sent; words only say whether pictures are meant at all.
  A count below that of the pictures sent            max_images
  Pixels                                             max_image_side
  Bytes, of one picture · of all or of the request   max_image_bytes · max_images_size
  No number                                          less of the same than was sent
Words about tokens are about the prompt (a picture has tokens too); words about a least size, or
about a kind of picture, are about no limit. Read next: dialects.py, which learns the bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

PictureLimits: TypeAlias = tuple[tuple[str, int], ...]

# stems of many languages; compiled when something was refused
_PICTURES: Final = (
    r"\bimages?\b|image_|_image|image\(s\)|\bmedia\b|\bpictures?\b|\bphotos?\b|\bbild|inline_?data"
    r"|\bimagen|imágen|immagin|imagem|изображени|картин|图片|图像|圖片|圖像|画像|이미지"
)
_LIMIT: Final = (
    r"exceed|too (?:many|much|large|big|high|wide|tall)|at most|up to|\bmax|limit|no more than"
    r"|(?:larger|bigger|more|greater) than|allowed|>|≤|<=|höchst|maximal|zu (?:viele|gro)|über"
    r"|máxim|exced|demasiad|supera|dépass|trop|massim|превыш|максим|最多|最大|超过|超過|超出|上限|초과|최대"
)
_MANY: Final = (
    r"too (?:many|much)|number of|\bcount\b|\d+ ?(?:images?|pictures?|photos?)\b|\d+ image\(s\)"
    r"|(?:images|pictures)\b.{0,20}\b(?:per|in (?:one|a|each))\b"
)
_LEAST: Final = r"at least \d|minim|too small|smaller than|less than"
_TOKENS: Final = r"token|context (?:length|window|size)|max_model_len|n_ctx"
_WHOLE: Final = (
    r"(?:entity|payload|body|request|content|upload)\b[^.]{0,40}"
    r"(?:too (?:large|big|long)|exceed|larger than|maximum size|size limit)"
    r"|(?:exceed|larger|over|maximum|too large)[^.]{0,40}(?:request|body|payload|entity)"
    r"|request_?too_?large"
)
_TOGETHER: Final = r"\btotal\b|\bcombined\b|\baltogether\b"
_EACH: Final = (
    r"(?:image|picture|photo|file)\b[^.]{0,40}(?:exceed|too (?:large|big)|larger|bigger|size|bytes)"
)
_PIXELS: Final = r"pixel|\bpx\b|dimension|width|height|resolution|\bside\b"
_BYTES: Final = r"(?<![A-Za-z\d_.])(\d[\d,._]*)\s?-?(bytes?|octets?|[kmg]i?b)\b"
_PAIR: Final = r"(?<![A-Za-z\d_.])(\d{2,6})\s*(?:px)?\s*(?:[x×*]|by)\s*(\d{2,6})"
_PLAIN: Final = r"(?<![A-Za-z\d_.\[#])(\d{1,6})(?![A-Za-z\d_\]%]|[.,:]\d)"
_UNITS: Final = {"k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_LEAST_SIDE: Final = 64
"""Pixels; a smaller number is no limit that anybody has."""
_SMALL: Final = 100_000
"""Characters of base64; what is smaller is refused for something else than its size."""


def picture_limits(
    text: str, status: int | None, characters: int, pictures: tuple[int, ...]
) -> PictureLimits:
    """Bounds to try, the likeliest first, by their names in Shape; () where it is not about them.

    `characters` of text and `pictures` (base64 each) are what was sent.
    """
    if _says(_TOKENS, text):
        return ()
    is_named = _says(_PICTURES, text)
    is_each = _says(_EACH, text) and not _says(_TOGETHER, text)
    is_whole = not is_each and (status == 413 or _says(f"{_WHOLE}|{_TOGETHER}", text))
    if not is_named and not (is_whole and sum(pictures) >= characters):
        return ()
    limits = tuple(_named(text, characters, pictures, is_whole=is_whole))
    is_limit = status == 413 or _says(_LIMIT, text)
    if not is_limit or (_says(_LEAST, text) and not limits):
        return ()
    last = (("max_images_size", sum(pictures) // 2),) if status == 413 else ()
    return (*limits, *_guessed(text, pictures, is_whole=is_whole), *last)


def _named(
    text: str, characters: int, pictures: tuple[int, ...], *, is_whole: bool
) -> Iterator[tuple[str, int]]:
    """What the numbers say, where they are below what was sent."""
    sizes = [n for n in _sizes(text) if n]
    remaining = re.sub(_BYTES, " ", text, flags=re.IGNORECASE)
    pairs = [max(int(m[1]), int(m[2])) for m in re.finditer(_PAIR, remaining, re.IGNORECASE)]
    remaining = re.sub(_PAIR, " ", remaining, flags=re.IGNORECASE)
    plain = [int(m[1]) for m in re.finditer(_PLAIN, remaining)]
    if sizes and is_whole:
        room = min(sizes) * 7 // 8 - characters  # an eighth for the text to come
        if room < sum(pictures):
            yield "max_images_size", max(0, room)
    elif sizes:
        # in characters of base64, as the strictest servers count
        yield "max_image_bytes", min(sizes) * 3 // 4
    sides = [n for n in plain if n >= _LEAST_SIDE] or pairs
    if sides and (pairs or _says(_PIXELS, text)):
        yield "max_image_side", min(sides)
    elif not sizes and (counts := [n for n in plain if n < len(pictures)]):
        yield "max_images", max(counts)


def _guessed(text: str, pictures: tuple[int, ...], *, is_whole: bool) -> Iterator[tuple[str, int]]:
    """Less of the same; asked again it is less once more."""
    if _says(_MANY, text):
        yield "max_images", len(pictures) // 2
    elif is_whole:
        yield "max_images_size", sum(pictures) // 2
    elif (largest := max(pictures)) > _SMALL:
        yield "max_image_bytes", largest * 3 // 4 * 3 // 4


def _sizes(message: str) -> Iterator[int]:
    for number, unit in re.findall(_BYTES, message, re.IGNORECASE):
        times = _UNITS.get(unit.lower().removesuffix("b"), 1)
        text = number.rstrip(".,_")
        if re.fullmatch(r"\d{1,3}(?:[,._]\d{3})+", text):
            text = re.sub(r"\D", "", text)
        try:
            yield int(float(text.replace(",", ".").replace("_", "")[:20]) * times)
        except (ValueError, OverflowError):
            continue


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
