"""Elements that a boolean array selects: `x[mask]` is all of `x`, with the mask beside it."""

from __future__ import annotations

from typing import Any

from autojit.capture.ragged_functions import RaggedFunctions
from autojit.capture.values import Masked
from autojit.errors import CannotCapture


class MaskedArrays(RaggedFunctions):
    """What can be done with elements whose number the data decides."""

    def getitem(self, array: Any, key: Any) -> Any:
        if isinstance(array, Masked):
            raise self.data_shape("an index into them")
        return super().getitem(array, key)

    def setitem(self, array: Any, key: Any, value: Any) -> None:
        if isinstance(array, Masked):
            raise self.data_shape("an assignment to some of them")
        super().setitem(array, key, value)

    def array_attribute(self, array: Any, name: str) -> Any:
        if isinstance(array, Masked):
            raise self.data_shape(f"the attribute `.{name}`")
        return super().array_attribute(array, name)

    def call_method(self, array: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if isinstance(array, Masked):
            raise self.data_shape(f"the method `.{name}`")
        return super().call_method(array, name, args, kwargs)

    def data_shape(self, what: str) -> CannotCapture:
        """The refusal of something that needs to know which elements are selected."""
        return CannotCapture("data-shape", f"{what}: a boolean array selects a number of elements that the data decides")
