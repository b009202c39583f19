"""The gallery: the exact analysis beside what the papers print, as figures and one page.

Each part is a module with `numbers(settings)`, plain content for JSON, and `figure(numbers)`, drawn
from nothing else. matplotlib is loaded by the first figure, not by this import.
"""

from reports.make.gallery.build import build
from reports.make.gallery.settings import Settings

__all__ = ["Settings", "build"]
