"""Slow, independent models that the engine's results are held against: exact rounding, and the bank rule."""

import math
import struct
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

_FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def rounded(exact: Fraction, kind: str, mode: str = "rn") -> float:
    """An exact value as the nearest (or next) number of a binary format, by counting units in the last place."""
    if exact == 0:
        return 0.0
    precision, low, high = _FORMATS[kind]
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, low) - precision + 1)
    whole, rest = divmod(size, unit)
    up = {
        "rn": 2 * rest > unit or (2 * rest == unit and whole % 2 == 1),
        "rz": False,
        "rp": rest > 0 and exact > 0,
        "rm": rest > 0 and exact < 0,
    }[mode]
    value = (whole + up) * unit
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high
    if value > largest:
        inward = mode == "rz" or (mode == "rm" and exact > 0) or (mode == "rp" and exact < 0)
        result = float(largest) if inward else math.inf
    else:
        result = float(value)
    return result if exact > 0 else -result


def f32_bits(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bank_rule(addresses: Sequence[int | None], width: int) -> tuple[int, int]:
    """Wavefronts and conflicts of one warp instruction, straight from the words of the rule.

    addresses: 32 byte addresses, None for a lane that does not take part.
    """
    match width:
        case 8:
            groups = [range(16), range(16, 32)]
        case 16:
            groups = []
            for half in (0, 16):
                lanes = range(half, half + 16)
                if any(
                    all(
                        addresses[lane] is None
                        or addresses[lane ^ step] is None
                        or addresses[lane] == addresses[lane ^ step]
                        for lane in lanes
                    )
                    for step in (1, 2)
                ):
                    groups.append(lanes)
                else:
                    groups += [range(half, half + 8), range(half + 8, half + 16)]
        case _:
            groups = [range(32)]
    wavefronts = used = 0
    for group in groups:
        banks: dict[int, set[int]] = defaultdict(set)
        for lane in group:
            address = addresses[lane]
            if address is not None:
                for word in range(address // 4, (address + width - 1) // 4 + 1):
                    banks[word % 32].add(word)
        if banks:
            used += 1
            wavefronts += max(len(words) for words in banks.values())
    return wavefronts, wavefronts - used
