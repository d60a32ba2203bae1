"""super-smack 1.3: its `.smack` files and its gen-data format strings, read and turned into a program.

Everything here is pure: it parses text and makes values. Reading data files, the table sections and
the lines of `main` touch the world and are in mydyno.lab.load.smack.

Every known defect of the original is a trap (traps.py) with a name: it is corrected by default and
imitated with strict-compat, and it is reported in both cases.
"""
