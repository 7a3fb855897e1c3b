"""A store of runs: one file per run, named by a hash of its inputs, safe with many writers.

    store = Store("results/store")
    if not store.has(key):
        store.put(key, results)
    results = store.get(key)

`key` names runs, `archive` and `files` write single files, `store` manages them, `index` caches frequently
requested tables, and `export` makes tables.
"""

from becalm.store.archive import ALL, KEEPS, SERIES, SUMMARY
from becalm.store.key import run_key
from becalm.store.store import Store

__all__ = ["ALL", "KEEPS", "SERIES", "SUMMARY", "Store", "run_key"]
