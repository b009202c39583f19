"""Exit statuses, and the words for them that every --help ends with."""

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}

HELP = """\b
Exit status:
  0    not violated; list, report, calibrate: done
  1    violated
  2    usage, scenario or data error: a line on stderr for each fault
  3    inconclusive or incomplete
  130  interrupted (Ctrl-C)
"""
