"""The HTTP server: every operation of a space under ``/v1/spaces/{space}/``.

``cognigraph serve`` runs it; :mod:`cognigraph.server.app` builds the application. It needs the
extra ``server``, except for :mod:`cognigraph.server.access`.
"""
