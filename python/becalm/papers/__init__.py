"""The papers: a package for each, with its scenes, experiments and measures, and its claims in `claims.toml`.

Papers use the lab (`becalm.lab`) and the code shared by santos2002 and santos2003 (`becalm.papers.common`),
but never each other. `becalm.lab.discovery` lists the papers.
"""
