"""python -m rmt_attention."""

from .cli import main

main()
