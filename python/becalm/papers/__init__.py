"""The papers: for each a package with its scenes, experiments and measures, and its claims in `claims.toml`.

Papers use the lab (`becalm.lab`) and what Santos 2002 and 2003 share (`becalm.papers.common`), never each
other. `becalm.lab.discovery` has the list of them.
"""
