"""The contenders of benchmarks/link.py, a file each: the same step over different links."""
