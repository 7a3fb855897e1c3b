"""`python -m becalm`: the command line."""

from becalm.cli import main

main()
