# SPDX-License-Identifier: MIT
"""Goldens of the generated corpus: what they hold, how they are made and how two are compared.

Every sample of `make-sample --list` is loaded on the simulated device of its architecture with
every input and output bound, so that every ring is authored. Its goldens are

    NAME.txt          layout and ledger; of a long ledger the first rows of each form
    NAME.ledger.zst   the whole ledger, when it is long
    NAME.elf.zst      the device image of `neffld dump`

and for a sample the loader refuses NAME.txt alone, with its sentence.
`goldens.py --regenerate` (scripts/regenerate-goldens) rewrites those whose contents changed.
"""

import itertools
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

NEFFLD = os.environ.get("NEFFLD_EXE", "neffld")
MAKE_SAMPLE = os.environ.get("NEFFLD_MAKE_SAMPLE", "make-sample")
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")

# Random weights do not compress, and all weights are placed by the same code.
SAMPLE_ARGUMENTS = {"scale": ["--weights", "65536"]}

READABLE_BYTES = 64 << 10  # a longer text is shortened
ROWS_SHOWN = 4             # of each form, in a shortened ledger
FIRST_BOUND, BOUND_ALIGN = 0x2_0000_0000, 1 << 20
TIMEOUT_SECONDS = 60
CHUNK_BYTES = 1 << 20
PT_LOAD, PT_NOTE = 1, 4
FORMAT, UNSUPPORTED, RESOURCE = 4, 5, 6  # exit codes of a refusal


class Refused(Exception):
    """A load that ended with a sentence."""


def neffld(folder, *arguments):
    """Standard output of a run in `folder`, so that no path gets into a golden."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("NEFFLD_", "NEURON_"))}
    done = subprocess.run([os.path.abspath(NEFFLD), *arguments], cwd=folder, env=environment,
                          timeout=TIMEOUT_SECONDS, capture_output=True, check=False)
    if done.returncode in (FORMAT, UNSUPPORTED, RESOURCE):
        raise Refused(f"exit code {done.returncode}, {done.stderr.decode()}")
    if done.returncode:
        raise RuntimeError(f"neffld {' '.join(arguments)} ended with {done.returncode}: "
                           f"{done.stderr.decode()}")
    return done.stdout


def sample_names():
    done = subprocess.run([MAKE_SAMPLE, "--list"], capture_output=True, check=True)
    return [line.split()[0] for line in done.stdout.decode().splitlines()]


def bindings(folder, file):
    """An address of its own for every input and output, as (name, address)."""
    graph = json.loads(neffld(folder, "inspect", file, "--report", "json"))["models"][0]["graph"]
    address, result = FIRST_BOUND, []
    for tensor in graph["inputs"] + graph["outputs"]:
        result.append((tensor["name"], address))
        address += -(-tensor["size"] // BOUND_ALIGN) * BOUND_ALIGN
    return result


def ring_lines(rings):
    """Rings that follow each other and differ in `k` alone share a line."""
    def same(ring):
        return (ring["queue"], ring["instance"], ring["side"], ring["used"], ring["allocated"])
    keys = ("queue", "instance", "side", "k")
    order = sorted(rings, key=lambda ring: [ring[key] for key in keys])
    for (queue, instance, side, used, allocated), group in itertools.groupby(order, key=same):
        places = [ring["k"] for ring in group]
        yield (f"  rings {queue}.{instance}.{places[0]}-{places[-1]} {side}: "
               f"{used} of {allocated} descriptors")


def subgraph_lines(graph):
    yield f"subgraph {graph['name']}, core {graph['core']}, HBM {graph['hbm']}"
    for variable in graph["variables"]:
        yield (f"  variable {variable['var_id']} {variable['kind']} {variable['pa'] or '-'} "
               f"size {variable['size']} {variable['name']}")
    for queues in graph["queue_sets"]:
        queue = "-" if queues["queue_id"] is None else queues["queue_id"]
        template = ", template" if queues["template"] else ""
        yield (f"  queue set {queues['name']} {queues['type']} of {queues['owner']}, "
               f"queue {queue}, {queues['num_queues']} rings, {queues['blocks']} blocks{template}")
    yield from ring_lines(graph["rings"])
    for stream in graph["instructions"]:
        yield (f"  stream {stream['engine']} {stream['pa']} "
               f"{stream['slots_in']} slots -> {stream['slots_out']}")
    for form, count in graph["relocations"].items():
        yield f"  {count} {form}"


def layout_lines(report, bound):
    model = report["models"][0]
    yield f"# {model['name']} on {report['device']['name']}: layout"
    for name, address in bound:
        yield f"bound {name} 0x{address:x}"
    for graph in model["subgraphs"]:
        yield from subgraph_lines(graph)
    yield "# allocations: number, address, size, alignment, category, core, HBM, owner"
    for one in model["allocations"]:
        yield (f"{one['seq']:4} {one['pa']} {one['size']} {one['align']} {one['category']} "
               f"{one['core']} {one['hbm']} {one['owner']}")
    for warning in model["warnings"]:
        yield f"warning: {warning}"


def first_rows(rows):
    """The first rows of every form in the ledger's order, and how many more there are."""
    seen = {}
    for row in rows:
        form = row.split()[1]
        seen[form] = seen.get(form, 0) + 1
        if seen[form] <= ROWS_SHOWN:
            yield row
    yield from (f"... {count - ROWS_SHOWN} more rows of {form}"
                for form, count in seen.items() if count > ROWS_SHOWN)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
        stream.write(text)


def make(name, folder):
    """Writes the goldens of one sample into `folder`."""
    with tempfile.TemporaryDirectory(prefix="neffld-golden-") as scratch:
        file = name + ".neff"
        subprocess.run([MAKE_SAMPLE, name, os.path.join(scratch, file),
                        *SAMPLE_ARGUMENTS.get(name, [])], check=True)
        try:
            bound = bindings(scratch, file)
            binds = [word for tensor, at in bound for word in ("--bind", f"{tensor}=0x{at:x}")]
            neffld(scratch, "dump", file, *binds, "--zstd", "-o", "image", "--report", "report")
            ledger = neffld(scratch, "relocs", file, *binds).decode()
        except Refused as refused:
            write(folder, name + ".txt", f"# {file} is refused: {refused}")
            return
        shutil.move(os.path.join(scratch, "image"), os.path.join(folder, name + ".elf.zst"))
        with open(os.path.join(scratch, "report"), encoding="utf-8") as stream:
            layout = "\n".join(layout_lines(json.load(stream), bound))
    if len(layout) + len(ledger) > READABLE_BYTES:
        whole = os.path.join(folder, name + ".ledger.zst")
        subprocess.run(["zstd", "-q", "-f", "-o", whole], input=ledger.encode(), check=True)
        ledger = "".join(line + "\n" for line in first_rows(ledger.splitlines()))
    write(folder, name + ".txt", f"{layout}\n# ledger\n{ledger}")


def names_in(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def text_difference(want, have):
    """The first line that differs, or None."""
    lines = itertools.zip_longest(want.decode().splitlines(), have.decode().splitlines())
    for number, (old, new) in enumerate(lines, 1):
        if old != new:
            return f"line {number}\n  golden: {old}\n  now:    {new}"
    return None


def chunks_of(packed):
    """The unpacked contents in pieces: an image has up to a GiB of zeros."""
    with subprocess.Popen(["zstd", "-dcq", packed], stdout=subprocess.PIPE) as process:
        while chunk := process.stdout.read(CHUNK_BYTES):
            yield chunk


def segments(head):
    """(kind, file offset, address, size) of every program header at an image's beginning."""
    for index in range(struct.unpack_from("<H", head, 0x38)[0]):
        kind, _, start, _, address, size = struct.unpack_from("<IIQQQQ", head, 0x40 + 56 * index)
        yield kind, start, address, size


def place_in_image(head, offset):
    """The device address of a file offset; `head` is the file's beginning, with its headers."""
    for kind, start, address, size in segments(head):
        if kind == PT_LOAD and start <= offset < start + size:
            return f"device address 0x{address + offset - start:x}"
    return "the headers and notes"


def notes(head):
    """The text of the notes (the layouts), without their sizes; the headers' offsets follow it."""
    texts = []
    for kind, at, _, size in segments(head):
        end = at + size
        while kind == PT_NOTE and at < end:
            name_bytes, text_bytes = struct.unpack_from("<II", head, at)
            at += 12 + (name_bytes + 3) // 4 * 4
            texts.append(head[at:at + text_bytes])
            at += (text_bytes + 3) // 4 * 4
    return b"\n".join(texts)


def first_difference(want, have, place):
    at = len(os.path.commonprefix([want, have]))
    return (f"{place(at)}\n  golden: {want[at:at + 32].hex(' ') or 'ends'}\n"
            f"  now:    {have[at:at + 32].hex(' ') or 'ends'}")


def note_difference(want, have):
    """Where the text of the notes differs, from a little before."""
    old, new = notes(want), notes(have)
    at = len(os.path.commonprefix([old, new]))
    shown = slice(max(0, at - 60), at + 60)
    return f"note byte {at}\n  golden: {old[shown]!r}\n  now:    {new[shown]!r}"


def image_difference(want_path, have_path):
    """The first byte that differs, or None."""
    head, offset = None, 0
    for want, have in itertools.zip_longest(chunks_of(want_path), chunks_of(have_path),
                                            fillvalue=b""):
        if head is None:
            head = want
            if have and notes(want) != notes(have):
                return note_difference(want, have)
        if want != have:
            return first_difference(want, have, lambda at: f"file offset 0x{offset + at:x}, "
                                    f"{place_in_image(head, offset + at)}")
        offset += len(want)
    return None


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout


def difference(want_path, have_path):
    """What differs first between the contents of two goldens of one name, or None."""
    if read(want_path) == read(have_path):
        return None
    if want_path.endswith(".elf.zst"):  # another zstd may pack the same image in other bytes
        return image_difference(want_path, have_path)
    if want_path.endswith(".zst"):
        return text_difference(unpacked(want_path), unpacked(have_path))
    return text_difference(read(want_path), read(have_path))


def regenerate():
    """Rewrites what changed in the corpus, and only that."""
    os.makedirs(CORPUS, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="neffld-goldens-") as fresh:
        for name in sample_names():
            make(name, fresh)
        for name in set(names_in(CORPUS)) - set(names_in(fresh)):
            os.remove(os.path.join(CORPUS, name))
        for name in names_in(fresh):
            old, new = os.path.join(CORPUS, name), os.path.join(fresh, name)
            if not os.path.exists(old) or difference(old, new):
                shutil.move(new, old)


if __name__ == "__main__":
    if sys.argv[1:] != ["--regenerate"]:
        sys.exit("usage: goldens.py --regenerate")
    regenerate()
