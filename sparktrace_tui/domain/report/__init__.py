"""Nsight Compute reports as values, and the ablation of their bank-conflict lines."""
