"""The gallery: the exact analysis beside what the papers print, as figures and one page."""
