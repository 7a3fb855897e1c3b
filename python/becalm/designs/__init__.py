"""A workbench for response functions: derive, check, tabulate, try.

`becalm.design(f_dec)` does everything. Its individual steps:

    from becalm.designs.derive import derive
    from becalm.designs.law import aimd, fimd, lipd, pair
    from becalm.designs.check import check
    from becalm.designs.tabulate import tabulate, tabulate_cct
    from becalm.designs import trial

    law = derive("max(r - 0.05 * sqrt(r), rmin)")
    print(check(law)["Condition 3"].holds)
    scenario = scenario.replace({"response": tabulate(law).response()})

Source: Santos, Turner, Janakiraman 2003, section V.
"""

from becalm.designs.workbench import Design, design

__all__ = ["Design", "design"]
