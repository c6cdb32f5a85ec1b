"""`python -m robonet` is the same as `robonet`."""

from robonet.cli import main

raise SystemExit(main())
