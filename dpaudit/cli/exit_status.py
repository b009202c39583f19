"""Exit statuses, and the words for them at the end of most --help texts."""

NOT_VIOLATED, VIOLATED, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130
OF_VERDICT = {"not violated": NOT_VIOLATED, "violated": VIOLATED, "inconclusive": INCOMPLETE}

HELP = """\b
Exit status:
  0    not violated; of list, report, plan and calibrate: done
  1    violated
  2    usage, scenario or data error; stderr has a line for each fault
  3    inconclusive or incomplete
  130  interrupted (Ctrl-C)
"""
