"""Memory for coding agents: commands that an agent runs at the events of a conversation.

An agent's settings name ``cognigraph hook AGENT EVENT`` (:mod:`cognigraph.hooks.settings` writes
them). The command (:mod:`cognigraph.hooks.run`) hands what was said over to a spool, from which a
process in the background stores it (:mod:`cognigraph.hooks.keeper`), and at some events it prints
what that process remembers. The agents that are known, and what they send and take, are in
:mod:`cognigraph.hooks.agents`.
"""
