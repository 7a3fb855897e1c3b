"""A store of runs: one file for each, named by what it depends on, safe with many writers.

    store = Store("results/store")
    if not store.has(key):
        store.put(key, results)
    results = store.get(key)

`key` names runs, `archive` and `files` make single files, `store` manages them, `index` keeps what is often
requested, `export` makes tables.
"""

from becalm.store.archive import ALL, KEEPS, SERIES, SUMMARY
from becalm.store.key import run_key
from becalm.store.store import Store

__all__ = ["ALL", "KEEPS", "SERIES", "SUMMARY", "Store", "run_key"]
