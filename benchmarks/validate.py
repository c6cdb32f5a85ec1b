"""Hold the `wifi` model against Bianchi and ns-3: print every comparison and rewrite docs/validation.md."""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # a checkout need not be installed

from validation import page  # noqa: E402
from validation.rows import SECTIONS, Row  # noqa: E402

PAGE = ROOT / "docs" / "validation.md"
DATA = Path(__file__).parent / "data"


def main() -> int:
    """All of it, or a few sections without writing the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--out", type=Path, default=PAGE, metavar="FILE", help="page to write (%(default)s)")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    results = {name: _measured(name) for name in options.sections or SECTIONS}
    count = sum(len(rows) for rows in results.values())
    bad = sum(not row.holds for rows in results.values() for row in rows)
    print(f"\n{count} rows, {bad} outside their tolerance")
    if not options.sections:
        options.out.write_text(page.page(results, DATA))
        print(f"wrote {options.out}")
    return 1 if bad else 0


def _measured(name: str) -> list[Row]:
    print(f"\n{page.SECTIONS[name].title}")
    begin = time.process_time()
    rows = []
    for row in SECTIONS[name]():
        rows.append(row)
        difference = f"{row.difference:+.2%}" if row.is_relative else f"{row.difference:+.4f}"
        verdict = "" if row.holds else "  OUTSIDE"
        print(f"  {row.what:60s} {row.reference:10.4f} {row.measured:10.4f} {difference:>9s}{verdict}", flush=True)
    print(f"  {time.process_time() - begin:.1f} s")
    return rows


if __name__ == "__main__":
    sys.exit(main())
