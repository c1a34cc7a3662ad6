"""Benchmarks: every figure is a ratio within one run, contenders interleaved, results checked."""
