"""Names of `dpaudit._core.value`, until the last module that imports them from here is changed."""

from dpaudit._core.value import brief as brief
from dpaudit._core.value import html_repr as html_repr
from dpaudit._core.value import shape_repr as shape_repr
from dpaudit._core.value import short_repr as short_repr
