"""Evaluate a memory on published benchmarks: from a downloaded file to figures and a page.

``cognigraph eval locomo|longmemeval FILE`` is the command; the class ``Evaluation`` in
:mod:`cognigraph.evaluate.evaluation` is what it drives. ``cognigraph eval self`` compares settings
on a user's own data (:mod:`cognigraph.evaluate.own_data`), and ``cognigraph eval paper`` measures
the main table of a paper (:mod:`cognigraph.evaluate.papers`).
"""
