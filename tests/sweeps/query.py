"""Prints what a query of DuckDB finds, a row a line: `query.py SQL`."""

import sys

import duckdb

for row in duckdb.sql(sys.argv[1]).fetchall():
    print(*row, sep=",")
