#!/usr/bin/env bash
# ml_dtypes 0.6.0 has two families of numbers of 8 bits for NumPy 2.4.6, and `numpy.save` writes both
# without a word. `float8_e5m2` gets the descriptor `<f1`, which no NumPy has: `numpy.load` refuses the
# file that `numpy.save` has just written. `float8_e4m3fn`, the other format of a tensor core's
# operands, and `bfloat16` become raw bytes (`V1`, `V2`): they are read, and their type is lost.
# Seen on Linux x86-64, Python 3.11.
source "$(dirname "$0")/common.sh"

install ml_dtypes==0.6.0 numpy==2.4.6
cat > round_trip.py <<'END_OF_PYTHON'
import sys

import ml_dtypes
import numpy

numbers = numpy.array([0.5, 1, -2], dtype=getattr(ml_dtypes, sys.argv[1]))
numpy.save("numbers.npy", numbers)
with open("numbers.npy", "rb") as file:
    print(file.read()[10:25].decode())
try:
    print("loaded as", numpy.load("numbers.npy").dtype)
except ValueError as error:
    print("refused:", error)
END_OF_PYTHON

written() {
    python/bin/python3 round_trip.py "$1"
}

expect "float8_e5m2" "$(written float8_e5m2)" "{'descr': '<f1'
refused: descr is not a valid dtype descriptor: '<f1'"
expect "float8_e4m3fn" "$(written float8_e4m3fn)" "{'descr': '<V1'
loaded as |V1"
expect "bfloat16" "$(written bfloat16)" "{'descr': '<V2'
loaded as |V2"
