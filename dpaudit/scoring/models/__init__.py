"""The scores themselves, a file per model. They know draws and each other's tools, and nothing of
sets or bounds.
"""
