"""SparkTrace: which of four correct CUDA rewrites is the fastest, with and without the profiler's report."""

__version__ = "0.1.0"
