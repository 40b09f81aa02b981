"""Evaluation on published benchmarks: the files as downloaded in, figures and a page out."""
