"""HOW A LINE IS SPELLED: values of entries and facts, and the codecs between them and bytes.

Must not know: files, locks, the order of lines in one file, stores.
Read first: entries.py (the vocabulary), codec.py, facts.py, factcodec.py; seal.py for the chain
of digests.
"""
