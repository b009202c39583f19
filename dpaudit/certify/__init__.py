"""What draws certify: their split, the sets, the confidence regions and the band. It knows scores,
and no mechanism.
"""
