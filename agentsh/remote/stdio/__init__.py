"""The two ends of a protocol over standard input and output: records, descriptors, signals.

It knows no protocol: what a record says is rpc's and acp's. Read framing.py, streams.py,
signals.py.
"""
