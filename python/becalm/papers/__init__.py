"""The papers: for each a package with its scenes, experiments and measures, and its claims in `claims.toml`.

Papers use the lab (`becalm.lab`) and what Santos 2002 and 2003 share (`becalm.papers.common`), never each
other. `becalm.lab.discovery` finds them by this list.
"""

PAPERS = (
    "santos2002",
    "santos2003",
    "gran2010",
    "pfister2005",
    "ramakrishnan1990",
    "alizadeh2010",
    "zhu2015",
    "mittal2015",
    "kumar2020",
    "li2019",
    "pfc",
    "dixit2013",
)
"""Names of the packages, in the order in which they are listed."""
