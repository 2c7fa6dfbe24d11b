# SPDX-License-Identifier: MIT
"""The Python client's order through ctypes, with nothing but the library's file name:
client.py FILE [EXECUTE-STATUS]

Counts before init, the NEFF in a buffer that is freed at once, vnc_count 1, tensors with slices, one set
a run, closing with everything alive, several rounds in one process."""

import ctypes
import sys

DEVICE = 0  # NRT_TENSOR_PLACEMENT_DEVICE
NO_FRAMEWORK = 1


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 256), ("usage", ctypes.c_uint32), ("size", ctypes.c_size_t),
                ("dtype", ctypes.c_uint32), ("shape", ctypes.POINTER(ctypes.c_uint32)),
                ("ndim", ctypes.c_uint32)]


class Client:
    def __init__(self):
        self.runtime = ctypes.CDLL("libnrt.so.1")
        self.runtime.nrt_tensor_get_size.restype = ctypes.c_size_t
        self.runtime.nrt_tensor_get_va.restype = ctypes.c_void_p
        self.runtime.nrt_get_status_as_str.restype = ctypes.c_char_p

    def call(self, name, *arguments, expected=0):
        status = getattr(self.runtime, name)(*arguments)
        if status != expected:
            text = self.runtime.nrt_get_status_as_str(status).decode()
            raise AssertionError(f"{name}: {status} ({text}), expected {expected}")

    def number(self, name):
        value = ctypes.c_uint32()
        self.call(name, ctypes.byref(value))
        return value.value

    def tensor_infos(self, model):
        """(name, usage, size) of every tensor; the array is given back."""
        array = ctypes.c_void_p()
        self.call("nrt_get_model_tensor_info", model, ctypes.byref(array))
        count = ctypes.cast(array, ctypes.POINTER(ctypes.c_uint64))[0]
        infos = ctypes.cast(array.value + 8, ctypes.POINTER(TensorInfo))
        found = []
        for index in range(count):
            info = infos[index]
            assert info.ndim <= 64
            elements = 1
            for dimension in info.shape[:info.ndim]:
                elements *= dimension
            assert info.size % elements == 0
            found.append((bytes(info.name), info.usage, info.size))
        self.call("nrt_free_model_tensor_info", array)
        return found

    def tensor(self, core, size, name):
        """A tensor and a slice of its second half, which hold what was written."""
        tensor, part = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("nrt_tensor_allocate", DEVICE, ctypes.c_int(core), ctypes.c_size_t(size), name,
                  ctypes.byref(tensor))
        assert self.runtime.nrt_tensor_get_size(tensor) == size
        content = bytes(index % 251 for index in range(size))
        self.call("nrt_tensor_write", tensor, content, ctypes.c_size_t(0), ctypes.c_size_t(size))
        half = size // 2
        if half:
            self.call("nrt_tensor_allocate_slice", tensor, ctypes.c_size_t(half),
                      ctypes.c_size_t(size - half), None, ctypes.byref(part))
            back = ctypes.create_string_buffer(size - half)
            self.call("nrt_tensor_read", part, back, ctypes.c_size_t(0), ctypes.c_size_t(size - half))
            assert back.raw == content[half:]
        return tensor

    def round(self, path, execute_status):
        cores = self.number("nrt_get_visible_nc_count")
        self.call("nrt_init", NO_FRAMEWORK, b"spike", b"1.0")
        core = cores - 1
        with open(path, "rb") as file:
            neff = ctypes.create_string_buffer(file.read())
        model = ctypes.c_void_p()
        self.call("nrt_load", neff, ctypes.c_size_t(len(neff) - 1), ctypes.c_int32(core),
                  ctypes.c_int32(1), ctypes.byref(model))
        del neff
        infos = self.tensor_infos(model)
        tensors = [self.tensor(core, size, name) for name, _, size in infos]
        for _ in range(2):
            sets = [ctypes.c_void_p(), ctypes.c_void_p()]
            for one in sets:
                self.call("nrt_allocate_tensor_set", ctypes.byref(one))
            for (name, usage, _), tensor in zip(infos, tensors):
                self.call("nrt_add_tensor_to_tensor_set", sets[usage], name, tensor)
            self.call("nrt_execute", model, sets[0], sets[1], expected=execute_status)
            for one in sets:
                self.runtime.nrt_destroy_tensor_set(ctypes.byref(one))
        # Model and tensors stay alive; nobody frees them.
        self.runtime.nrt_close()


def main():
    client = Client()
    for _ in range(3):
        client.round(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print("client.py: passed")


if __name__ == "__main__":
    main()
