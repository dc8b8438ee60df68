"""Nsight Compute reports: read from any form, rendered as text, ablated as text, and the command that makes
them.
"""
