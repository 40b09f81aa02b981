"""Tools to train a model that writes memories, after MemBuilder; no model is trained or shipped.

Rewards and the objective are pure functions of numbers, in :mod:`cognigraph.training.rewards`.
:mod:`cognigraph.training.questions` makes the questions that a reward asks, and
:mod:`cognigraph.training.export` writes files that LLaMA-Factory (supervised) and verl
(reinforcement) read.
"""
