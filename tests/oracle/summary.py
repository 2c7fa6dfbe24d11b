# SPDX-License-Identifier: MIT
"""The part of the report that follows from the NEFF alone, in the report's own schema."""

from arch import ENGINES, STATE_BUFFER_BYTES
from records import SLOT
from rings import element_count, target_bytes
from scratchpad import arena_bytes
from translate import dge_summary


def dma_summary(subgraph):
    blocks = [block for queue_set in subgraph.queue_sets for block in queue_set.blocks]
    descs = [desc for block in blocks for desc in block.descriptors]
    return {"blocks": len(blocks), "descriptors": len(descs),
            "elements": sum(element_count(desc) for desc in descs if desc.op != "transpose"),
            "bytes": sum(map(target_bytes, descs)),
            "casts": sum(desc.op == "cast" for desc in descs),
            "transposes": sum(desc.op == "transpose" for desc in descs)}


def subgraph_summary(subgraph, layout=None):
    """`layout` adds what needs the trigger scan: templates and image sizes."""
    templates = layout.templates if layout else set()
    return {
        "name": subgraph.name,
        "variables": [{"var_id": variable.var_id, "name": variable.name, "kind": variable.kind}
                      for variable in subgraph.variables],
        "queue_sets": [{"name": queue_set.name, "type": queue_set.kind, "owner": queue_set.owner,
                        "queue_id": queue_set.queue_id, "num_queues": queue_set.num_queues,
                        "blocks": len(queue_set.blocks), "template": queue_set.name in templates,
                        "dynamic": queue_set.dynamic} for queue_set in subgraph.queue_sets],
        "instructions": [{"engine": engine, "slots_in": len(subgraph.streams[engine]) // SLOT}
                         for engine in ENGINES],
        "dma": dma_summary(subgraph),
        "dge": dge_summary(subgraph.streams),
        "constants_bytes": sum(variable.size for variable in subgraph.variables
                               if variable.kind == "file"),
        "scratchpad_bytes": arena_bytes(subgraph, False) + arena_bytes(subgraph, True),
    }


def container_summary(neff):
    return {"file_bytes": neff.file_bytes, "stored_bytes": neff.header.data_size,
            "gzip_bytes": neff.gzip_bytes, "padding_bytes": neff.padding_bytes,
            "tar_bytes": neff.tar_bytes, "members": len(neff.members)}


def variable_size(variable):
    """Size the report gives; None where no rule fixes it."""
    if variable.kind == "state-buffer":
        return STATE_BUFFER_BYTES
    return None if variable.kind in ("list", "remote") else variable.size


def model_summary(neff, model):
    return {"container": container_summary(neff),
            "subgraphs": [subgraph_summary(subgraph) for subgraph in model.subgraphs]}
