"""Families, launch plans, captures and the key rule."""
