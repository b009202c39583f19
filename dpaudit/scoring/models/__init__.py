"""The models, a file each: they fit a score to the draws of both sides.

They know arrays of draws and each other's scores; they know neither which model was asked for nor
sets and bounds.
"""
