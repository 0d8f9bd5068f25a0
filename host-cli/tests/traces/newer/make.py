#!/usr/bin/env python3
"""Makes the traces of this folder, as Accel-Sim's tracer and its second step write them.

    pip install zstandard==0.25.0
    python3 make.py            # writes the files again; they do not change

One small kernel is "executed" once and traced by three tracers: that of Accel-Sim 1.3 (version 5),
that of Accel-Sim 2.0 without values of registers (version 5) and with them (version 6). What each
prints follows `tracer_tool.cu`, field by field, and `post-traces-processing.cpp` for the grouping
and for `.tracez` (accel-sim/accel-sim-framework, commits 1e8951b9, 0cee02c8 and e1c2b678). Nothing
here is shared with the reader.
"""

import struct
from pathlib import Path

HERE = Path(__file__).parent
MAX_SRC = 5
LANES = 32
FULL = 0xFFFFFFFF
GRID, BLOCK = (2, 1, 1), (48, 1, 1)
# Turns of the loop; few in the inputs that fuzzing begins with.
TURNS = 24
CORPUS = HERE.parents[3] / "fuzz/corpus/trace"

# Operands, as NVBit describes them.
REG, UREG, PRED, MREF, IMM, OTHER = "REG", "UREG", "PRED", "MREF", "IMM", "OTHER"


def instruction(opcode, *operands, gsb=False, tma=False):
    return {"opcode": opcode, "operands": operands, "gsb": gsb, "tma": tma}


CODE = [
    instruction("S2R", (REG, 0), (OTHER, "SR_TID.X")),
    instruction("ULDC.64", (UREG, 4), (OTHER, "c[0x0][0x118]")),
    instruction("R2UR", (UREG, 6), (REG, 0)),
    instruction("UIADD3", (UREG, 7), (UREG, 6), (IMM, 4), (UREG, 63)),
    instruction("IMAD.WIDE", (REG, 2), (REG, 0), (IMM, 4), (OTHER, "c[0x0][0x160]")),
    instruction("ISETP.GE.AND", (PRED, 0), (PRED, 7), (REG, 0), (UREG, 6), (PRED, 7)),
    instruction("SYNCS.EXCH.64", (UREG, 8), (MREF, 255), (UREG, 10)),
    instruction("UTMALDG.2D", tma=True),
    # Polls: an instruction and its branch back.
    instruction("SYNCS.PHASECHK.TRANS64.TRYWAIT", (PRED, 0), (MREF, 4), (REG, 5)),
    instruction("BRA", (IMM, 0x80)),
    # The loop.
    instruction("LDG.E.128", (REG, 8), (MREF, 2)),
    instruction("LDGSTS.E.64", (MREF, 4), (MREF, 2)),
    instruction("FFMA", (REG, 12), (REG, 8), (UREG, 7), (REG, 12)),
    instruction("HGMMA.64x8x16.F32", (REG, 24), (OTHER, "gdesc[UR4]"), (REG, 24), gsb=True),
    instruction("BAR.SYNC.DEFER_BLOCKING", (IMM, 0), (IMM, 64)),
    instruction("STS", (MREF, 4), (REG, 12)),
    instruction("BRA", (IMM, 0xA0)),
    # Behind it.
    instruction("MEMBAR.SC.GPU"),
    instruction("LDS", (REG, 13), (MREF, 4)),
    instruction("RED.E.ADD.STRONG.GPU", (MREF, 2), (REG, 13)),
    instruction("EXIT"),
]
POLL, LOOP, BEHIND = 8, 10, 17


def register_value(number, lane, turn):
    """Any value, of which some are the same in all lanes."""
    return 7 * number if number % 2 == 0 else (number << 16 | lane << 4 | turn) & FULL


def executions():
    """(block, warp, index of the instruction, mask, addresses of memory references, turn)"""
    for block in range(GRID[0]):
        for warp in range(2):
            whole = FULL if warp == 0 else 0xFFFF
            base = 0x7F10_0000_0000 + 0x1000 * (2 * block + warp)
            shared = [0x7F00_0000_0400 + 4 * lane for lane in range(LANES)]
            path = [(index, whole, 0) for index in range(POLL + 2)]
            for turn in range(TURNS):
                # A turn in which some lanes, or none, are off.
                mask = whole if turn % 5 else whole & (0x5555_0F0F if turn % 10 else 0)
                path += [(index, mask, turn) for index in range(LOOP, BEHIND)]
            path += [(index, whole, TURNS) for index in range(BEHIND, len(CODE))]
            for index, mask, turn in path:
                stride = 16 if turn % 3 else 20 + turn
                spread = [base + stride * lane + (lane // 8) * 64 * turn for lane in range(LANES)]
                yield block, warp, index, mask, (spread, shared), turn


# --- tracer_tool.cu ---------------------------------------------------------------------------


def data_width(opcode):
    """`get_datawidth_from_opcode`."""
    for token in opcode.split("."):
        if token.isdigit():
            return int(token) // 8
        if token[:1] == "U" and token[1:].isdigit():
            return int(token[1:]) // 8
    return 4


def base_stride(addresses, mask):
    """`base_stride_compress`: base and stride, or nothing. Without lanes, what was there: zeros."""
    lanes = [lane for lane in range(LANES) if mask >> lane & 1]
    if not lanes:
        return 0, 0
    first = lanes[0]
    if first == 31 or not mask >> (first + 1) & 1:
        return None
    stride = addresses[first + 1] - addresses[first]
    if lanes != list(range(first, first + len(lanes))):
        return None
    steady = all(addresses[lane] - addresses[lane - 1] == stride for lane in lanes[1:])
    return (addresses[first], stride) if steady else None


def addresses_text(opcode, addresses, mask):
    text = f"{data_width(opcode)} "
    found = base_stride(addresses, mask)
    if found:
        return text + f"1 0x{found[0]:x} {found[1]} "
    active = [addresses[lane] for lane in range(LANES) if mask >> lane & 1]
    deltas = [after - before for before, after in zip(active, active[1:])]
    return text + f"2 0x{active[0]:x} " + "".join(f"{delta} " for delta in deltas)


def registers(described, uniform):
    """Result and operands: operand 0 is the result if it is a register."""
    result, sources, immediates = -1, [], []
    for place, (kind, number) in enumerate(described["operands"]):
        if kind == MREF:
            sources.append(number)
        elif kind == REG or kind == UREG and uniform:
            number += 256 if kind == UREG else 0
            if place == 0:
                result = number
            else:
                sources.append(number)
        elif kind == IMM:
            immediates.append(number)
    assert len(sources) <= MAX_SRC
    return result, sources, immediates


def name(number):
    return f"UR{number - 256} " if number >= 256 else f"R{number} "


def values_text(values, digits=8):
    if min(values) == max(values):
        return f"1 {values[0]:0{digits}x} "
    return "32 " + "".join(f"{value:0{digits}x} " for value in values)


def dumps(opcode):
    return any(
        part in opcode
        for part in ("BAR", "HGMMA", "SYNCS.ARRIVE", "SYNCS.EXCH.64", "SYNCS.PHASECHK.TRANS64")
    )


def transfer_text(mask):
    if mask == 0:
        return "0 0x0 0 0 0 4 0x0 0 "
    pieces = [0x7F20_0000_0000 + 128 * row for row in range(6)]
    deltas = "".join("128 " for _ in pieces[1:])
    return f"32 0x{0x400:08x} 1 0x{3:04x} {32 * 6} {32 * 2} 4 0x{pieces[0]:x} {6 + 2} {deltas}"


def line(tracer, described, pc, mask, addresses, turn):
    """What `recv_thread_fun` prints behind the numbers of block and warp."""
    newer = tracer != "1.3"
    opcode = described["opcode"]
    result, sources, immediates = registers(described, newer)
    text = f"{pc:04x} {mask:08x} "
    text += "1 " + name(result) if result >= 0 else "0 "
    text += opcode + " "
    text += f"{len(sources)} " + "".join(name(source) for source in sources)
    if newer and "GMMA" in opcode:
        text += f"{int(described['gsb'])} "
    if newer and described["tma"]:
        text += transfer_text(mask)
    elif addresses is not None:
        text += addresses_text(opcode, addresses, mask)
    else:
        text += "0 "
    if not newer:
        # The last one that it came across.
        return text + f"{immediates[-1] if immediates else 0} "
    # Of a transfer, the union holds other bytes there.
    first, second = (immediates + [0, 0])[:2] if not described["tma"] else (-(2**63), 2**63 - 1)
    text += f"{first} {second} "
    if tracer == "2.0 with values":
        if dumps(opcode):
            text += "Val "
            if result >= 0:
                text += values_text([register_value(result, lane, turn) for lane in range(LANES)])
            for place, source in enumerate(sources):
                values = [register_value(source, lane, turn) for lane in range(LANES)]
                if opcode == "SYNCS.EXCH.64" and place == 1:
                    high = [register_value(source + 1, lane, turn) for lane in range(LANES)]
                    pairs = [above << 32 | value for above, value in zip(high, values)]
                    text += values_text(pairs, 16)
                else:
                    text += values_text(values)
        else:
            text += "NoVal "
    return text


def raw_lines(tracer, lineinfo):
    """(block, warp, rest of the line) in the order of the channel."""
    marks = tracer != "1.3"
    for block, warp, index, mask, (spread, shared), turn in executions():
        described = CODE[index]
        if marks and index == POLL:
            yield block, warp, "0000 ffffffff 0 REPLAY_START 0 0 0 0"
        if marks and index == POLL + 2 and turn == 0:
            yield block, warp, "0000 ffffffff 0 REPLAY_END 0 0 0 0"
        references = [number for kind, number in described["operands"] if kind == MREF]
        # One call of the tracer for each memory reference: of an LDGSTS, the shared one comes first.
        accesses = [spread if number == 2 else shared for number in references]
        for addresses in accesses or [None]:
            source_line = f"{100 + index} " if lineinfo else ""
            rest = line(tracer, described, 16 * index, mask, addresses, turn)
            yield block, warp, source_line + rest


def header(tracer, lineinfo):
    version = 6 if tracer == "2.0 with values" else 5
    tail = {
        "1.3": "immediate",
        "2.0": "immediate1 immediate2",
        "2.0 with values": "immediate1 immediate2 Val|NoVal [dest_val_num] [dest_val] ... "
        "[src_val1_num] [src_val1] ... [...] [src_valX_num] [src_valX] ...",
    }[tracer]
    return [
        "-kernel name = _Z5newerPfi",
        "-kernel id = 1",
        "-grid dim = ({},{},{})".format(*GRID),
        "-block dim = ({},{},{})".format(*BLOCK),
        "-shmem = 2048",
        "-nregs = 40",
        "-binary version = 90",
        "-cuda stream id = 0",
        "-shmem base_addr = 0x00007f0000000000",
        "-local mem base_addr = 0x00007f0001000000",
        "-nvbit version = 1.8",
        f"-accelsim tracer version = {version}",
        f"-enable lineinfo = {int(lineinfo)}",
        "",
        "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
        "mem_width [adrrescompress?] [mem_addresses] " + tail,
        "",
    ]


# --- post-traces-processing.cpp ---------------------------------------------------------------


def grouped(tracer, lineinfo):
    """Lines of each block's warps. Of the two lines of an LDGSTS, the first is left out."""
    blocks = [[[], []] for _ in range(GRID[0])]
    drop = {}
    for block, warp, rest in raw_lines(tracer, lineinfo):
        # With source lines, the tool takes another word for the opcode, and leaves both.
        words = rest.split()
        opcode = words[3 + int(words[2], 10)] if not lineinfo else ""
        if opcode.startswith("LDGSTS"):
            drop[block, warp] = not drop.get((block, warp), False)
            if drop[block, warp]:
                continue
        blocks[block][warp].append(rest)
    return blocks


def clusters(block):
    """Cluster in the grid, place in the cluster, rank: clusters of one."""
    return (block, 0, 0), (0, 0, 0), 0


def text(tracer, lineinfo=False):
    out = "".join(f"{head}\n" for head in header(tracer, lineinfo))
    for block, warps in enumerate(grouped(tracer, lineinfo)):
        out += f"\n#BEGIN_TB\n\nthread block = {block},0,0\n"
        if tracer != "1.3":
            cluster, place, rank = clusters(block)
            out += "cluster id = {},{},{}\n".format(*cluster)
            out += "cluster cta = {},{},{}\n".format(*place)
            out += f"cluster rank = {rank}\n"
        for warp, lines in enumerate(warps):
            out += f"\nwarp = {warp}\ninsts = {len(lines)}\n" + "".join(f"{one}\n" for one in lines)
        out += "\n#END_TB\n"
    return out.encode()


def pieces(lines, target):
    """`build_subchunk_ranges`: about `target` lines each, marked loops whole."""
    target = target or len(lines)
    at = 0
    while at < len(lines):
        end = min(at + target, len(lines))
        depth = sum(("REPLAY_START" in one) - ("REPLAY_END" in one) for one in lines[at:end])
        while depth > 0 and end < len(lines):
            depth += ("REPLAY_START" in lines[end]) - ("REPLAY_END" in lines[end])
            end += 1
        yield lines[at:end]
        at = end


def tracez(tracer, target, with_dictionary):
    import zstandard

    blocks = grouped(tracer, False)
    out = bytearray("".join(f"{head}\n" for head in header(tracer, False)).encode() + b"\0")
    samples = [one.encode() for warps in blocks for lines in warps for one in lines[::8]]
    dictionary = None
    if with_dictionary:
        dictionary = zstandard.train_dictionary(4096, samples, level=3)
    packed = dictionary.as_bytes() if dictionary else b""
    out += struct.pack("<II", len(packed), target) + packed
    compressor = zstandard.ZstdCompressor(level=3, dict_data=dictionary, write_checksum=False)
    index = bytearray(struct.pack("<I", len(blocks)))
    for block, warps in enumerate(blocks):
        cluster, place, rank = clusters(block)
        index += struct.pack("<11I", block, 0, 0, *cluster, *place, rank, len(warps))
        for lines in warps:
            parts = list(pieces(lines, target))
            index += struct.pack("<IIQ", len(lines), len(parts), len(out))
            out += struct.pack("<II", len(lines), len(parts))
            for part in parts:
                index += struct.pack("<I", len(part))
                frame = compressor.compress("\n".join(part).encode())
                out += struct.pack("<I", len(frame)) + frame
    offset = len(out)
    return bytes(out + index + struct.pack("<Q", offset))


FILES = {
    "tracer-1.3.traceg": lambda: text("1.3"),
    "tracer-2.0-version-5.traceg": lambda: text("2.0"),
    "tracer-2.0-version-6.traceg": lambda: text("2.0 with values"),
    "tracer-2.0-dictionary.tracez": lambda: tracez("2.0 with values", 32, True),
    "tracer-2.0-plain.tracez": lambda: tracez("2.0", 0, False),
}

SEEDS = {
    "version-6.traceg": lambda: text("2.0 with values"),
    "version-6.tracez": lambda: tracez("2.0 with values", 8, False),
}

if __name__ == "__main__":
    for file, made in FILES.items():
        (HERE / file).write_bytes(made())
    TURNS, GRID = 2, (1, 1, 1)
    for file, made in SEEDS.items():
        (CORPUS / file).write_bytes(made())
    TURNS = 6
    (CORPUS / "version-5-dictionary.tracez").write_bytes(tracez("2.0", 64, True))
