"""Reviewed batches: alike actions on the owner's own things, approved together (spec 3.11, 5.2.4).

The first domain is files: what lies in one folder is sorted into folders below it. Rules propose,
the owner approves each batch, a mover with a journal of its own carries out exactly what was
approved. No model takes part, and nothing here reads what a file says beyond its first line.
"""
